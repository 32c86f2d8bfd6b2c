-- Bytes that members add to the store, counted for the login that sent them, so that no login fills it for the others. For each kind,
-- `bytes` of tasks (tasks/bytes) and `mail` of messages (mail/deliver), keys.team has the bytes of a login in the team, `KIND LOGIN`, and
-- keys.teams those in the repository, `/KIND LOGIN`, and those of all, `/KIND`.
local TeamBytes = {}

function TeamBytes.count_bytes(call, kind, login, bytes)
  if bytes == 0 then
    return
  end
  local counts =
    { { call.keys.team, kind .. ' ' .. login }, { call.keys.teams, '/' .. kind .. ' ' .. login }, { call.keys.teams, '/' .. kind } }
  for _, count in ipairs(counts) do
    if redis.call('HINCRBY', count[1], count[2], bytes) <= 0 then
      redis.call('HDEL', count[1], count[2])
    end
  end
end

-- Nil if the caller may store `bytes` more; else the exceeded limit, in words, and its bound.
function TeamBytes.exceeded_limit(call, kind, bytes)
  local MAX_MIB, MAX_MIB_PER_LOGIN, MIB = 256, 64, 1048576
  if bytes == 0 then
    return nil
  end
  local content = kind == 'mail' and 'messages' or 'tasks with their texts'
  local own, total = unpack(redis.call('HMGET', call.keys.teams, '/' .. kind .. ' ' .. call.request.user_id, '/' .. kind))
  if (own or 0) + bytes > MAX_MIB_PER_LOGIN * MIB then
    return 'MiB of ' .. content .. ' by one login', MAX_MIB_PER_LOGIN
  elseif (total or 0) + bytes > MAX_MIB * MIB then
    return 'MiB of ' .. content .. ' in a repository', MAX_MIB
  end
end

return TeamBytes
