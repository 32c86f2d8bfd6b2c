-- allow_overlap: a person allows two intents to overlap.
-- KEYS, ARGV: those of admission/request, with `id`, `other`: id of the other intent, and `origin` of the line
-- Returns { outcome, now, answer }: ALLOWED with the `state` of the caller; if it was allowed before, nothing is changed
--      or UNKNOWN with the `id`: there is no such intent
--      or ENDED with the `status`: the intent has ended
--      or { TOO_MANY, now }: it may overlap with too many
--      or one of the denials of Admission.admit(); in all these cases nothing is changed
local Admission = require('admission/admission')
local Answer = require('answer')
local Append = require('ledger/append')
local Records = require('intents/records')
local Session = require('intents/session')
local Status = require('intents/status')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  local id, other = call.request.id, call.request.other
  Records.begin(call)
  Append.begin(call)

  local MAX_ALLOWED, MAX_PER_LOGIN = 100, 25

  local denial = Admission.admit(call) or Append.full_ledger(call, 1)
  if denial then
    return denial
  end
  Session.load(call)
  local record, other_record = Records.of(call, id), Records.of(call, other)
  if not record or not other_record then
    return Answer.reply(call, 'UNKNOWN', { id = record and other or id })
  end
  for _, either in ipairs({ record, other_record }) do
    if either.status == 'COMPLETED' or either.status == 'ABANDONED' then
      return Answer.reply(call, 'ENDED', { status = either.status })
    end
  end
  for _, allowed in ipairs(record.may_overlap or {}) do
    if allowed == other then
      return Answer.reply(call, 'ALLOWED', { state = call.session.state })
    end
  end
  -- The intents of a different login fill at most a quarter.
  for _, pair in ipairs({ { record, other_record }, { other_record, record } }) do
    local allowed, login, count = pair[1].may_overlap or {}, pair[2].by, 0
    for index = 1, #allowed >= MAX_PER_LOGIN and login ~= pair[1].by and #allowed or 0 do
      count = count + ((Records.of(call, allowed[index]) or {}).by == login and 1 or 0)
    end
    if #allowed >= MAX_ALLOWED or count >= MAX_PER_LOGIN then
      return { 'TOO_MANY', call.now }
    end
  end
  local function allow(intent_id, changed, allowed_id)
    changed.may_overlap = changed.may_overlap or {}
    table.insert(changed.may_overlap, allowed_id)
    changed.updated_ms = call.now_ms
    Records.save_record(call, intent_id, changed)
  end
  allow(id, record, other)
  allow(other, other_record, id)
  Status.append_change(call, id, call.session.state, 'May overlap with ' .. other, 'Overlap allowed', call.request.origin)
  Status.emit_about(call, 'intent_overlap_allowed', id, { other = other })
  return Answer.reply(call, 'ALLOWED', { state = call.session.state })
end
