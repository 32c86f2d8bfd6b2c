-- move_intent: completes, abandons or blocks an intent, or resumes a blocked one.
-- KEYS, ARGV: those of admission/request, with `id`, `status`: its new one, `is_person`: a person asks, `criteria`: MET if all are,
-- FORCED to complete it anyway, or UNMET, `seen`: version of the registry that the decision is based on, `reason`: why, absent for none,
-- and `origin` of the line
-- Returns { outcome, now, answer }: MOVED with the `state` of the caller
--      or NO_TRANSITION with its `status`: there is no transition from it to the new one
--      or PERSON with its `status`: only a person may do this
--      or { UNKNOWN, now }: there is no such intent
--      or { CRITERIA, now }: not all criteria are met
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
  local request = call.request
  local id, status, is_person, criteria = request.id, request.status, request.is_person, request.criteria
  Records.begin(call)
  Append.begin(call)

  -- The permitted actor, by the status before and after. The same as `TRANSITIONS` in `lib/intents/src/intent.rs`, except
  -- for PENDING to IN_PROGRESS, which is select_intent.
  local TRANSITIONS = {
    PENDING = { ABANDONED = 'ANYONE' },
    IN_PROGRESS = { COMPLETED = 'CRITERIA', ABANDONED = 'ANYONE', BLOCKED = 'ANYONE' },
    BLOCKED = { IN_PROGRESS = 'PERSON', ABANDONED = 'PERSON' },
  }

  local denial = Admission.admit(call) or Append.full_ledger(call, 1)
  if denial then
    return denial
  end
  local record = Records.of(call, id)
  if not record then
    return { 'UNKNOWN', call.now }
  end
  local actor = (TRANSITIONS[record.status] or {})[status]
  if not actor then
    return Answer.reply(call, 'NO_TRANSITION', { status = record.status })
  elseif actor == 'CRITERIA' and request.seen ~= call.governed then
    return { 'CHANGED', call.now }
  elseif actor == 'CRITERIA' and criteria == 'UNMET' then
    return { 'CRITERIA', call.now }
  elseif (actor == 'PERSON' or actor == 'CRITERIA' and criteria == 'FORCED') and not is_person then
    return Answer.reply(call, 'PERSON', { status = record.status })
  elseif not is_person and not Records.belongs_to_caller(call, record) then
    return Answer.reply(call, 'PERSON', { status = record.status })
  end
  Session.load(call)
  Status.change_status(call, id, record, status, request.reason or '', call.session.state, request.origin)
  if call.session.intent == id and not Records.is_active(record) then
    call.session.state, call.session.last, call.session.intent, call.session.version = 'REQUEST', id, nil, nil
    Session.save(call)
  end
  return Answer.reply(call, 'MOVED', { state = call.session.state })
end
