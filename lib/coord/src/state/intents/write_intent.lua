-- write_intent: writes a new intent, or changes one.
-- KEYS: those of admission/request
-- ARGV: those of admission/request, then 17 id, 18 version of the registry by which the change was decided, '' for a new
--       intent, 19 the intent, JSON, 20 its branch or '', 21 digest of its scope or '', 22 max_turns and 23 max_tokens, '' for
--       no limit, 24 '1' if its holders have to know, 25 what is changed, 26 origin of the line
-- Returns { WRITTEN, now, state of the caller }
--      or { EXISTS, now }: a new intent has the id of another
--      or { TOO_MANY, now }: there are too many
--      or { UNKNOWN, now }: there is none to be changed
--      or { CHANGED, now }: the registry has another version
--      or one of the denials of admit(); in all these cases nothing is changed
local id, seen, text, branch, digest, max_turns, max_tokens = unpack(ARGV, 17, 23)
local is_for_holders, change, origin = ARGV[24] == '1', ARGV[25], ARGV[26]
-- @include admission/admission
-- @include intents/status
-- @include intents/session

-- As `MAX_INTENTS` in `lib/intents/src/intent.rs`.
local MOST_INTENTS = 1000

local denial = admit()
if denial then
  return denial
end
local record, is_new = record_of(id), seen == ''
if is_new and record then
  return { 'EXISTS', now }
elseif not is_new and not record then
  return { 'UNKNOWN', now }
elseif not is_new and seen ~= governed then
  return { 'CHANGED', now }
end
if is_new then
  local count = redis.call('HLEN', keys.intents)
  if count >= MOST_INTENTS then
    return { 'TOO_MANY', now }
  end
  record = { status = 'PENDING', version = 0, order = count + 1, created_ms = now_ms }
end
record.branch = branch ~= '' and branch or nil
record.digest, record.max_turns, record.max_tokens = digest, tonumber(max_turns), tonumber(max_tokens)
record.version = record.version + ((is_new or is_for_holders) and 1 or 0)
record.bytes, record.updated_ms = #text, now_ms
save_record(id, record)
redis.call('HSET', keys.intent_texts, id, text)
load_session()
append_change(id, session.state, change, record.status, origin)
emit_about('intent_changed', id, { status = record.status })
return { 'WRITTEN', now, session.state }
