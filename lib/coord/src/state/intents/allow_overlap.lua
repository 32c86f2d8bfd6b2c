-- allow_overlap: a person lets two intents overlap.
-- KEYS: those of admission/request
-- ARGV: those of admission/request, then 17 id, 18 id of the other, 19 origin of the line
-- Returns { ALLOWED, now, state of the caller }, also if it was allowed before: then nothing is changed
--      or { UNKNOWN, now, id }: there is no such intent
--      or { NO_WAY, now, status }: the intent has ended
--      or { TOO_MANY, now }: it may overlap with too many
--      or one of the denials of admit(); in all these cases nothing is changed
local id, other, origin = unpack(ARGV, 17, 19)
-- @include admission/admission
-- @include intents/status
-- @include intents/session

local MOST_ALLOWED, MOST_OF_LOGIN = 100, 25

local denial = admit() or full_ledger(1)
if denial then
  return denial
end
load_session()
local one, two = record_of(id), record_of(other)
if not one or not two then
  return { 'UNKNOWN', now, one and other or id }
end
for _, record in ipairs({ one, two }) do
  if record.status == 'COMPLETED' or record.status == 'ABANDONED' then
    return { 'NO_WAY', now, record.status }
  end
end
for _, allowed in ipairs(one.may_overlap or {}) do
  if allowed == other then
    return { 'ALLOWED', now, session.state }
  end
end
-- The intents of another login fill a quarter.
for _, pair in ipairs({ { one, two }, { two, one } }) do
  local allowed, login, count = pair[1].may_overlap or {}, pair[2].by, 0
  for index = 1, #allowed >= MOST_OF_LOGIN and login ~= pair[1].by and #allowed or 0 do
    count = count + ((record_of(allowed[index]) or {}).by == login and 1 or 0)
  end
  if #allowed >= MOST_ALLOWED or count >= MOST_OF_LOGIN then
    return { 'TOO_MANY', now }
  end
end
local function allow(of, record, with)
  record.may_overlap = record.may_overlap or {}
  table.insert(record.may_overlap, with)
  record.updated_ms = now_ms
  save_record(of, record)
end
allow(id, one, other)
allow(other, two, id)
append_change(id, session.state, 'May overlap with ' .. other, 'Overlap allowed', origin)
emit_about('intent_overlap_allowed', id, { other = other })
return { 'ALLOWED', now, session.state }
