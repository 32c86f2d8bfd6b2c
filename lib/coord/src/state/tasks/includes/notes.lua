-- Notes on a task: what happened and what the next one has to know. Needs: team.
-- Each is a line of JSON: `by` and `login`, absent for one of Coord itself, `time` (Unix milliseconds), `text`.

-- The notes with one more, of `stored` or false; nil if there is no room for it.
local function noted(stored, text, by)
  local MOST_BYTES = 65536
  local note = cjson.encode({ by = by and by.handle, login = by and by.login, time = now_ms, text = text })
  stored = stored and stored .. '\n' .. note or note
  return #stored <= MOST_BYTES and stored or nil
end

-- Adds a note; false if there is no room for it.
local function add_note(id, text, by)
  local field = id .. ' notes'
  local notes = noted(redis.call('HGET', keys.texts, field), text, by)
  if not notes then
    return false
  end
  redis.call('HSET', keys.texts, field, notes)
  return true
end

-- Whether a note of the caller has room. The login that made the task may fill it, another one a half: a note has up to
-- 16 KiB.
local function has_room_for_note(id, task, text)
  local MOST_BYTES, MOST_BYTES_OF_LOGIN, MOST_OVERHEAD = 65536, 32768, 512
  local stored = redis.call('HGET', keys.texts, id .. ' notes') or ''
  local added = #cjson.encode(text) + MOST_OVERHEAD
  local own = added
  for line in string.gmatch(#stored + added > MOST_BYTES_OF_LOGIN and stored or '', '[^\n]+') do
    own = own + (cjson.decode(line).login == member.login and #line or 0)
  end
  return #stored + added <= MOST_BYTES and (own <= MOST_BYTES_OF_LOGIN or task.by_login == member.login)
end
