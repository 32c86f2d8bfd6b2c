-- Answers to repeated requests: the same key of the same agent gets the first answer for ten minutes. Needs: team.

-- What was answered, as text; or nil and, if the key was used for another request, the refusal.
local function answered_before(key, digest)
  local KEPT_FOR = 600
  local stored = key ~= '' and redis.call('HGET', keys.answers, key)
  local answer = stored and cjson.decode(stored)
  -- A team that was deleted, and made again, has no earlier requests.
  if not answer or answer.team ~= team.created or now - answer.time >= KEPT_FOR then
    return nil
  end
  if answer.digest ~= digest then
    -- Behind the name of the script.
    return nil, refuse('KEY_REUSED', (string.gsub(key, '^%S+ ', '')))
  end
  return answer.text
end

-- Remembers the answer. Of more than 64 in ten minutes the oldest goes.
local function remember_answer(key, digest, text)
  local MOST, KEPT_FOR = 64, 600
  if key == '' then
    return
  end
  if redis.call('HLEN', keys.answers) >= MOST then
    local stored, oldest, oldest_time = redis.call('HGETALL', keys.answers), nil, nil
    for index = 1, #stored, 2 do
      local time = cjson.decode(stored[index + 1]).time
      if not oldest or time < oldest_time then
        oldest, oldest_time = stored[index], time
      end
    end
    redis.call('HDEL', keys.answers, oldest)
  end
  redis.call('HSET', keys.answers, key, cjson.encode({
    time = now, team = team.created, digest = digest, text = text,
  }))
  redis.call('EXPIRE', keys.answers, KEPT_FOR)
end
