-- Notes on a task: events, and facts for the next owner. Each is a line of JSON: `by` and `login`, absent for one of
-- Coord itself, `time` (Unix milliseconds), `text`.
local Notes = {}

-- The notes `stored`, or false, with one more; nil if there is no room for it.
function Notes.with_note(call, stored, text, by)
  local MAX_BYTES = 65536
  local note = cjson.encode({ by = by and by.handle, login = by and by.login, time = call.now_ms, text = text })
  stored = stored and stored .. '\n' .. note or note
  return #stored <= MAX_BYTES and stored or nil
end

-- Adds a note; false if there is no room for it.
function Notes.add_note(call, id, text, by)
  local field = id .. ' notes'
  local notes = Notes.with_note(call, redis.call('HGET', call.keys.texts, field), text, by)
  if not notes then
    return false
  end
  redis.call('HSET', call.keys.texts, field, notes)
  return true
end

-- Whether a note of the caller has room. The creator's login may fill all of it, another login half: a note has up to 16 KiB.
function Notes.has_room_for_note(call, id, task, text)
  local MAX_BYTES, MAX_BYTES_PER_LOGIN, MAX_OVERHEAD = 65536, 32768, 512
  local stored = redis.call('HGET', call.keys.texts, id .. ' notes') or ''
  local added = #cjson.encode(text) + MAX_OVERHEAD
  local own = added
  for line in string.gmatch(#stored + added > MAX_BYTES_PER_LOGIN and stored or '', '[^\n]+') do
    own = own + (cjson.decode(line).login == call.member.login and #line or 0)
  end
  return #stored + added <= MAX_BYTES and (own <= MAX_BYTES_PER_LOGIN or task.by_login == call.member.login)
end

return Notes
