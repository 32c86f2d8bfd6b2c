-- Notes on a task: what happened and what the next one has to know. Needs: team.
-- Each is a line of JSON: `by` and `login`, absent for one of Coord itself, `time` (Unix milliseconds), `text`.

-- Adds a note; false if there is no room for it.
local function add_note(id, text, by)
  local MOST_BYTES = 65536
  local field = id .. ' notes'
  local stored = redis.call('HGET', keys.texts, field)
  local note = cjson.encode({ by = by and by.handle, login = by and by.login, time = now_ms, text = text })
  stored = stored and stored .. '\n' .. note or note
  if #stored > MOST_BYTES then
    return false
  end
  redis.call('HSET', keys.texts, field, stored)
  return true
end

-- Whether a note of this length has room.
local function has_room_for_note(id, text)
  local MOST_BYTES, MOST_OVERHEAD = 65536, 512
  local stored = redis.call('HGET', keys.texts, id .. ' notes')
  return #(stored or '') + #cjson.encode(text) + MOST_OVERHEAD <= MOST_BYTES
end
