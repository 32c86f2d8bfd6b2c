-- take_over: a person makes an active intent the owner of files, whoever owned them.
-- KEYS: those of admission/request
-- ARGV: those of admission/request, then 2 id, 3 origin of the line, 4... file paths
-- Returns { TAKEN, now, state of the caller }
--      or { UNKNOWN, now }: there is no such intent
--      or { NOT_ACTIVE, now, status }
--      or { TOO_MANY, now }: there are too many owned files
--      or one of the denials of Admission.admit(); in all these cases nothing is changed
local Admission = require('admission/admission')
local Append = require('ledger/append')
local Emit = require('events/emit')
local Owners = require('intents/owners')
local Records = require('intents/records')
local Session = require('intents/session')
local Status = require('intents/status')

return function(KEYS, ARGV)
  local call = {}
  local id, origin = ARGV[2], ARGV[3]
  local paths = { unpack(ARGV, 4) }
  Admission.begin(call, KEYS, ARGV)
  Records.begin(call)
  Append.begin(call)

  local denial = Admission.admit(call) or Append.full_ledger(call, 1)
  if denial then
    return denial
  end
  local record = Records.of(call, id)
  if not record then
    return { 'UNKNOWN', call.now }
  elseif not Records.is_active(record) then
    return { 'NOT_ACTIVE', call.now, record.status }
  elseif not Owners.has_room_for(call, #paths) then
    return { 'TOO_MANY', call.now }
  end
  local owners, previous = Owners.of(call, paths), nil
  for _, path in ipairs(paths) do
    local from = Owners.take_file(owners[path], id, record.branch)
    previous = previous or (from ~= '' and from or nil)
    redis.call('HSET', call.keys.owners, path, cjson.encode(owners[path]))
  end
  Session.load(call)
  local named, files = Emit.names_of(paths), {}
  for index, path in ipairs(named or {}) do
    files[index] = Append.json_text(path)
  end
  local reasoning = 'Taken over' .. (previous and ' from ' .. previous or '')
  Append.append_line(
    call,
    id,
    call.session.state,
    'STATE_TRANSITION',
    '{"target_files":[' .. table.concat(files, ',') .. '],"reasoning":' .. Append.json_text(reasoning) .. '}',
    '{"status":"SUCCESS","output_summary":"' .. #paths .. ' files taken over"}',
    origin
  )
  Status.emit_about(call, 'file_taken_over', id, {
    branch = record.branch,
    previous = previous,
    files = named,
    file_count = #paths,
  })
  return { 'TAKEN', call.now, call.session.state }
end
