-- move_intent: completes, abandons or blocks an intent, or lets a blocked one go on.
-- KEYS: those of admission/request
-- ARGV: those of admission/request, then 2 id, 3 its new status, 4 '1' if a person asks, 5 MET if all criteria are met,
--       FORCED to complete it all the same, or UNMET, 6 version of the registry by which that was found out, 7 why, or '',
--       8 origin of the line
-- Returns { MOVED, now, state of the caller }
--      or { UNKNOWN, now }: there is no such intent
--      or { NO_WAY, now, status }: none leads from its status to the new one
--      or { PERSON, now, status }: only a person may do this
--      or { CRITERIA, now, status }: not all criteria are met
--      or { CHANGED, now }: the registry has another version
--      or one of the denials of Admission.admit(); in all these cases nothing is changed
local Admission = require('admission/admission')
local Append = require('ledger/append')
local Records = require('intents/records')
local Session = require('intents/session')
local Status = require('intents/status')

return function(KEYS, ARGV)
  local call = {}
  local id, status, is_person, criteria, seen, reason, origin = ARGV[2], ARGV[3], ARGV[4] == '1', ARGV[5], ARGV[6], ARGV[7], ARGV[8]
  Admission.begin(call, KEYS, ARGV)
  Records.begin(call)
  Append.begin(call)

  -- Whose act it is, by the status before and after. As `TRANSITIONS` in `lib/intents/src/intent.rs`, but for PENDING to
  -- IN_PROGRESS, which is select_intent.
  local WAYS = {
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
  local whose = (WAYS[record.status] or {})[status]
  if not whose then
    return { 'NO_WAY', call.now, record.status }
  elseif whose == 'CRITERIA' and seen ~= call.governed then
    return { 'CHANGED', call.now }
  elseif whose == 'CRITERIA' and criteria == 'UNMET' then
    return { 'CRITERIA', call.now, record.status }
  elseif (whose == 'PERSON' or whose == 'CRITERIA' and criteria == 'FORCED') and not is_person then
    return { 'PERSON', call.now, record.status }
  elseif not is_person and not Records.is_callers(call, record) then
    return { 'PERSON', call.now, record.status }
  end
  Session.load(call)
  Status.change_status(call, id, record, status, reason, call.session.state, origin)
  if call.session.intent == id and not Records.is_active(record) then
    call.session.state, call.session.last, call.session.intent, call.session.version = 'REQUEST', id, nil, nil
    Session.save(call)
  end
  return { 'MOVED', call.now, call.session.state }
end
