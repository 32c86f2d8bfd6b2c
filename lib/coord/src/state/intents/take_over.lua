-- take_over: a person makes an active intent the owner of files, whoever owned them.
-- KEYS: those of admission/request
-- ARGV: those of admission/request, then 17 id, 18 origin of the line, 19... file paths
-- Returns { TAKEN, now, state of the caller }
--      or { UNKNOWN, now }: there is no such intent
--      or { NOT_ACTIVE, now, status }
--      or { TOO_MANY, now }: there are too many owned files
--      or one of the denials of admit(); in all these cases nothing is changed
local id, origin = ARGV[17], ARGV[18]
local paths = { unpack(ARGV, 19) }
-- @include admission/admission
-- @include intents/status
-- @include intents/session
-- @include intents/owners

local denial = admit() or full_ledger(1)
if denial then
  return denial
end
local record = record_of(id)
if not record then
  return { 'UNKNOWN', now }
elseif not is_active(record) then
  return { 'NOT_ACTIVE', now, record.status }
elseif not has_room_for(#paths) then
  return { 'TOO_MANY', now }
end
local owners, previous = owners_of(paths), nil
for _, path in ipairs(paths) do
  local from = take_file(owners[path], id, record.branch)
  previous = previous or (from ~= '' and from or nil)
  redis.call('HSET', keys.owners, path, cjson.encode(owners[path]))
end
load_session()
local named, files = names_of(paths), {}
for index, path in ipairs(named or {}) do
  files[index] = json_text(path)
end
local reasoning = 'Taken over' .. (previous and ' from ' .. previous or '')
append_line(id, session.state, 'STATE_TRANSITION', '{"target_files":[' .. table.concat(files, ',') .. '],"reasoning":'
  .. json_text(reasoning) .. '}', '{"status":"SUCCESS","output_summary":"' .. #paths .. ' files taken over"}', origin)
emit_about('file_taken_over', id, {
  branch = record.branch, previous = previous, files = named, file_count = #paths,
})
return { 'TAKEN', now, session.state }
