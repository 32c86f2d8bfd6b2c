-- select_intent: the caller selects an intent to work on; one that is PENDING begins.
-- KEYS, ARGV: those of admission/request, with `id`, `seen`: version of the registry on which the decision that it may begin is based, and
-- `payload`, `result` and `origin` of the line of the ledger
-- Returns { outcome, now, answer }: SELECTED with the `state` of the caller
--      or NOT_ACTIVE with its `status`: it is blocked or has ended
--      or TOO_MANY with `whose`, REPOSITORY or LOGIN: too many are active, or too many that the caller's login has begun
--      or { UNKNOWN, now }: there is no such intent
--      or { CHANGED, now }: the registry has another version
--      or one of the denials of Admission.admit(); in all these cases nothing is changed
local Admission = require('admission/admission')
local Answer = require('answer')
local Append = require('ledger/append')
local Records = require('intents/records')
local Session = require('intents/session')
local Status = require('intents/status')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  local id, origin = call.request.id, call.request.origin
  Records.begin(call)
  Append.begin(call)

  -- A login has a quarter, so that it does not block others. That is enough for the agents that a person runs in one repository.
  local MAX_ACTIVE, MAX_PER_LOGIN = 200, 50

  local denial = Admission.admit(call) or Append.full_ledger(call, 2)
  if denial then
    return denial
  end
  local record = Records.of(call, id)
  if not record then
    return { 'UNKNOWN', call.now }
  elseif record.status ~= 'PENDING' and record.status ~= 'IN_PROGRESS' then
    return Answer.reply(call, 'NOT_ACTIVE', { status = record.status })
  end
  Session.load(call)
  local state = call.session.state
  if record.status == 'PENDING' then
    if call.request.seen ~= call.governed then
      return { 'CHANGED', call.now }
    end
    local active, own = 0, 0
    local stored = redis.call('HGETALL', call.keys.intents)
    for index = 2, #stored, 2 do
      local other = cjson.decode(stored[index])
      if Records.is_active(other) then
        active, own = active + 1, own + (other.begun_by == call.request.user_id and 1 or 0)
      end
    end
    if own >= MAX_PER_LOGIN or active >= MAX_ACTIVE then
      return Answer.reply(call, 'TOO_MANY', { whose = own >= MAX_PER_LOGIN and 'LOGIN' or 'REPOSITORY' })
    end
  end
  Append.append_line(call, id, state, 'INTENT_SELECTION', call.request.payload, call.request.result, origin)
  if record.status == 'PENDING' then
    record.begun_by = call.request.user_id
    Status.change_status(call, id, record, 'IN_PROGRESS', '', state, origin)
  end
  if call.session.intent ~= id then
    call.session.last = call.session.intent or call.session.last
  end
  call.session.state, call.session.intent, call.session.version = 'ACTION', id, record.version
  Session.save(call)
  Records.save_use(call, id, Records.use_of(call, id))
  return Answer.reply(call, 'SELECTED', { state = call.session.state })
end
