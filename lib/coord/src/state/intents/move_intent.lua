-- move_intent: completes, abandons or blocks an intent, or lets a blocked one go on.
-- KEYS: those of admission/request
-- ARGV: those of admission/request, then 17 id, 18 its new status, 19 '1' if a person asks, 20 MET if all criteria are met,
--       FORCED to complete it all the same, or UNMET, 21 version of the registry by which that was found out, 22 why, or '',
--       23 origin of the line
-- Returns { MOVED, now, state of the caller }
--      or { UNKNOWN, now }: there is no such intent
--      or { NO_WAY, now, status }: none leads from its status to the new one
--      or { PERSON, now, status }: only a person may do this
--      or { CRITERIA, now, status }: not all criteria are met
--      or { CHANGED, now }: the registry has another version
--      or one of the denials of admit(); in all these cases nothing is changed
local id, status, is_person, criteria, seen, reason, origin =
  ARGV[17], ARGV[18], ARGV[19] == '1', ARGV[20], ARGV[21], ARGV[22], ARGV[23]
-- @include admission/admission
-- @include intents/status
-- @include intents/session

-- Whose act it is, by the status before and after. As `TRANSITIONS` in `lib/intents/src/intent.rs`, but for PENDING to
-- IN_PROGRESS, which is select_intent.
local WAYS = {
  PENDING = { ABANDONED = 'ANYONE' },
  IN_PROGRESS = { COMPLETED = 'CRITERIA', ABANDONED = 'ANYONE', BLOCKED = 'ANYONE' },
  BLOCKED = { IN_PROGRESS = 'PERSON', ABANDONED = 'PERSON' },
}

local denial = admit() or full_ledger(1)
if denial then
  return denial
end
local record = record_of(id)
if not record then
  return { 'UNKNOWN', now }
end
local whose = (WAYS[record.status] or {})[status]
if not whose then
  return { 'NO_WAY', now, record.status }
elseif whose == 'CRITERIA' and seen ~= governed then
  return { 'CHANGED', now }
elseif whose == 'CRITERIA' and criteria == 'UNMET' then
  return { 'CRITERIA', now, record.status }
elseif (whose == 'PERSON' or whose == 'CRITERIA' and criteria == 'FORCED') and not is_person then
  return { 'PERSON', now, record.status }
elseif not is_person and not is_callers(record) then
  return { 'PERSON', now, record.status }
end
load_session()
change_status(id, record, status, reason, session.state, origin)
if session.intent == id and not is_active(record) then
  session.state, session.last, session.intent, session.version = 'REQUEST', id, nil, nil
  save_session()
end
return { 'MOVED', now, session.state }
