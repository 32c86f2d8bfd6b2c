-- take_over: a person makes an active intent the owner of files, regardless of their previous owners.
-- KEYS, ARGV: those of admission/request, with `id`, `origin` of the line, and `paths`
-- Returns { outcome, now, answer }: TAKEN with the `state` of the caller
--      or NOT_ACTIVE with its `status`
--      or { UNKNOWN, now }: there is no such intent
--      or { TOO_MANY, now }: there are too many owned files
--      or one of the denials of Admission.admit(); in all these cases nothing is changed
local Admission = require('admission/admission')
local Answer = require('answer')
local Append = require('ledger/append')
local Emit = require('events/emit')
local Owners = require('intents/owners')
local Records = require('intents/records')
local Session = require('intents/session')
local Status = require('intents/status')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  local id, paths = call.request.id, call.request.paths
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
    return Answer.reply(call, 'NOT_ACTIVE', { status = record.status })
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
    call.request.origin
  )
  Status.emit_about(call, 'file_taken_over', id, {
    branch = record.branch,
    previous = previous,
    files = named,
    file_count = #paths,
  })
  return Answer.reply(call, 'TAKEN', { state = call.session.state })
end
