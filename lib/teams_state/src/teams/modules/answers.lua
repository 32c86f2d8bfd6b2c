-- Answers to repeated requests: for ten minutes, the same key of the same agent gets the first answer.
-- The request has `request_key`: the name of its function and the key, and `request_digest`: that of its content; absent without a key.
-- keys.answers has the answers to a login in the repository, under 'TEAM AGENT KEY': all its agents share this room.
local Team = require('teams/team')

local Answers = {}

local ANSWERS_KEPT_FOR, MAX_ANSWERS, MAX_ANSWER_BYTES = 600, 4000, 16777216
-- The field of keys.answers with the size of the answers: `count`, `bytes`, `oldest` (when the oldest may be from). No request
-- has this field: it would begin with a team.
local ROOM = '#'

-- call.room: its content, once it is read

-- Forgets the answers that are too old, and counts the others.
local function forget_old_answers(call)
  local stored, expired = redis.call('HGETALL', call.keys.answers), {}
  call.room = { count = 0, bytes = 0, oldest = call.now }
  for index = 1, #stored, 2 do
    -- Searches the text, because decoding all would take too long. No other field can contain this: its quotes are escaped.
    local _, name_end = string.find(stored[index + 1], '"time":', 1, true)
    local time = tonumber(string.match(stored[index + 1], '^%d+', name_end and name_end + 1))
    if stored[index] ~= ROOM and call.now - (time or 0) >= ANSWERS_KEPT_FOR then
      expired[#expired + 1] = stored[index]
    elseif stored[index] ~= ROOM then
      call.room.count, call.room.bytes = call.room.count + 1, call.room.bytes + #stored[index + 1]
      call.room.oldest = math.min(call.room.oldest, time)
    end
  end
  if #expired > 0 then
    redis.call('HDEL', call.keys.answers, unpack(expired))
  end
  redis.call('HSET', call.keys.answers, ROOM, cjson.encode(call.room))
end

local function field_of(call, key)
  return call.team_key .. ' ' .. call.request.agent_id .. ' ' .. key
end

local function has_no_room(call)
  return call.room.count >= MAX_ANSWERS or call.room.bytes >= MAX_ANSWER_BYTES
end

-- Finds the earlier answer, as text; or nil and, if the key was used for a different request, or there is no room for a new answer,
-- the refusal.
function Answers.find_earlier(call)
  local key = call.request.request_key
  if not key then
    return nil
  end
  local stored, stored_room = unpack(redis.call('HMGET', call.keys.answers, field_of(call, key), ROOM))
  local answer = stored and cjson.decode(stored)
  -- A team that was deleted and created again has no earlier requests.
  if answer and answer.team == call.team.created and call.now - answer.time < ANSWERS_KEPT_FOR then
    if answer.digest ~= call.request.request_digest then
      -- The key follows the name of the function.
      return nil, Team.refuse(call, 'KEY_REUSED', { key = (string.gsub(key, '^%S+ ', '')) })
    end
    return answer.text
  end
  call.room = stored_room and cjson.decode(stored_room) or { count = 0, bytes = 0, oldest = call.now }
  if has_no_room(call) and call.now - call.room.oldest >= ANSWERS_KEPT_FOR then
    forget_old_answers(call)
  end
  if has_no_room(call) then
    return nil, Team.refuse(call, 'TOO_MANY', { what = 'request keys in ten minutes', most = MAX_ANSWERS })
  end
end

-- Remembers the answer, for which find_earlier() has found room.
function Answers.remember_answer(call, text)
  local key = call.request.request_key
  if not key then
    return
  end
  local answer = cjson.encode({ time = call.now, team = call.team.created, digest = call.request.request_digest, text = text })
  call.room.count, call.room.bytes = call.room.count + 1, call.room.bytes + #answer
  redis.call('HSET', call.keys.answers, field_of(call, key), answer, ROOM, cjson.encode(call.room))
  redis.call('EXPIRE', call.keys.answers, ANSWERS_KEPT_FOR)
end

return Answers
