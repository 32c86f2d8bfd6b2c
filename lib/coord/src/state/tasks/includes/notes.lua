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

-- Whether a note of this length has room.
local function has_room_for_note(id, text)
  local MOST_BYTES, MOST_OVERHEAD = 65536, 512
  local stored = redis.call('HGET', keys.texts, id .. ' notes')
  return #(stored or '') + #cjson.encode(text) + MOST_OVERHEAD <= MOST_BYTES
end
