-- Answers to repeated requests: the same key of the same agent gets the first answer for ten minutes. Needs: team.
-- keys.answers has those of a login in the repository, under 'TEAM AGENT KEY': all its agents have this room together.

local answered_before, remember_answer
-- A script has 200 local names at most.
do
  local ANSWERS_KEPT_FOR, MOST_ANSWERS, MOST_ANSWER_BYTES = 600, 4000, 16777216
  -- The field of keys.answers with what the answers take: `count`, `bytes`, `oldest` (when the oldest may be from). No request has
  -- this field: it would begin with a team.
  local ROOM = '#'
  local room -- its content

  -- Forgets the answers that are too old, and counts the others.
  local function forget_old_answers()
    local stored, gone = redis.call('HGETALL', keys.answers), {}
    room = { count = 0, bytes = 0, oldest = now }
    for index = 1, #stored, 2 do
      -- In the text: to decode all takes too long. No other field can contain this: its quotes are escaped.
      local _, at = string.find(stored[index + 1], '"time":', 1, true)
      local time = tonumber(string.match(stored[index + 1], '^%d+', at and at + 1))
      if stored[index] ~= ROOM and now - (time or 0) >= ANSWERS_KEPT_FOR then
        gone[#gone + 1] = stored[index]
      elseif stored[index] ~= ROOM then
        room.count, room.bytes = room.count + 1, room.bytes + #stored[index + 1]
        room.oldest = math.min(room.oldest, time)
      end
    end
    if #gone > 0 then
      redis.call('HDEL', keys.answers, unpack(gone))
    end
    redis.call('HSET', keys.answers, ROOM, cjson.encode(room))
  end

  local function field_of(key)
    return team_key .. ' ' .. request.agent_id .. ' ' .. key
  end

  local function has_no_room()
    return room.count >= MOST_ANSWERS or room.bytes >= MOST_ANSWER_BYTES
  end

  -- What was answered, as text; or nil and, if the key was used for another request, or there is no room for another answer, the
  -- refusal.
  function answered_before(key, digest)
    if key == '' then
      return nil
    end
    local stored, stored_room = unpack(redis.call('HMGET', keys.answers, field_of(key), ROOM))
    local answer = stored and cjson.decode(stored)
    -- A team that was deleted, and made again, has no earlier requests.
    if answer and answer.team == team.created and now - answer.time < ANSWERS_KEPT_FOR then
      if answer.digest ~= digest then
        -- Behind the name of the script.
        return nil, refuse('KEY_REUSED', (string.gsub(key, '^%S+ ', '')))
      end
      return answer.text
    end
    room = stored_room and cjson.decode(stored_room) or { count = 0, bytes = 0, oldest = now }
    if has_no_room() and now - room.oldest >= ANSWERS_KEPT_FOR then
      forget_old_answers()
    end
    if has_no_room() then
      return nil, refuse('TOO_MANY', 'request keys in ten minutes', MOST_ANSWERS)
    end
  end

  -- Remembers the answer, for which answered_before() has found room.
  function remember_answer(key, digest, text)
    if key == '' then
      return
    end
    local answer = cjson.encode({ time = now, team = team.created, digest = digest, text = text })
    room.count, room.bytes = room.count + 1, room.bytes + #answer
    redis.call('HSET', keys.answers, field_of(key), answer, ROOM, cjson.encode(room))
    redis.call('EXPIRE', keys.answers, ANSWERS_KEPT_FOR)
  end
end
