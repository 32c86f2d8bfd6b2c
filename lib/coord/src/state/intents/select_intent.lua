-- select_intent: the caller selects an intent to work on; one that is PENDING begins.
-- KEYS: those of admission/request
-- ARGV: those of admission/request, then 17 id, 18 version of the registry by which it was decided that it may begin,
--       19 payload and 20 result of the line of the ledger, 21 origin of the line
-- Returns { SELECTED, now, state of the caller }
--      or { UNKNOWN, now }: there is no such intent
--      or { NOT_ACTIVE, now, status }: it is blocked or has ended
--      or { TOO_MANY, now, REPOSITORY or LOGIN }: too many are active, or too many that the caller's login has begun
--      or { CHANGED, now }: the registry has another version
--      or one of the denials of admit(); in all these cases nothing is changed
local id, seen, payload, result, origin = unpack(ARGV, 17, 21)
-- @include admission/admission
-- @include intents/status
-- @include intents/session

-- A login has a quarter of them, so that it does not keep others from beginning theirs, and as many agents as people run in one repository.
local MOST_ACTIVE, MOST_OF_LOGIN = 200, 50

local denial = admit() or full_ledger(2)
if denial then
  return denial
end
local record = record_of(id)
if not record then
  return { 'UNKNOWN', now }
elseif record.status ~= 'PENDING' and record.status ~= 'IN_PROGRESS' then
  return { 'NOT_ACTIVE', now, record.status }
end
load_session()
local state = session.state
if record.status == 'PENDING' then
  if seen ~= governed then
    return { 'CHANGED', now }
  end
  local active, own = 0, 0
  local stored = redis.call('HGETALL', keys.intents)
  for index = 2, #stored, 2 do
    local other = cjson.decode(stored[index])
    if is_active(other) then
      active, own = active + 1, own + (other.begun_by == request.user_id and 1 or 0)
    end
  end
  if own >= MOST_OF_LOGIN or active >= MOST_ACTIVE then
    return { 'TOO_MANY', now, own >= MOST_OF_LOGIN and 'LOGIN' or 'REPOSITORY' }
  end
  record.begun_by = request.user_id
end
append_line(id, state, 'INTENT_SELECTION', payload, result, origin)
if record.status == 'PENDING' then
  record.begun_by = request.user_id
  change_status(id, record, 'IN_PROGRESS', '', state, origin)
end
if session.intent ~= id then
  session.last = session.intent or session.last
end
session.state, session.intent, session.version = 'ACTION', id, record.version
save_session()
save_use(id, use_of(id))
return { 'SELECTED', now, session.state }
