-- What tasks take of the store, counted for the login that wrote it, so that nobody fills it for the others. Needs: team.
-- A task counts its own (`bytes` of includes/task.lua); keys.team has those of a login in the team, `bytes LOGIN`, and keys.teams those
-- in the repository, `/bytes LOGIN`, and those of all, `/bytes`. What was written counts until its task is gone.

-- Of a task, of a dependency, and of a note, beside their texts.
local BYTES_OF_TASK, BYTES_OF_DEPENDENCY, BYTES_OF_NOTE = 512, 200, 128

local function count_bytes(login, bytes)
  if bytes == 0 then
    return
  end
  local counts = { { keys.team, 'bytes ' .. login }, { keys.teams, '/bytes ' .. login }, { keys.teams, '/bytes' } }
  for _, count in ipairs(counts) do
    if redis.call('HINCRBY', count[1], count[2], bytes) <= 0 then
      redis.call('HDEL', count[1], count[2])
    end
  end
end

-- Notes in the task that the caller has written so many bytes more. The caller of this function counts them, and saves the task.
local function add_bytes(task, bytes)
  -- Some scripts look for names in the text of a task: no login is one of them.
  local login = '@' .. request.user_id
  task.bytes = task.bytes or {}
  task.bytes[login] = (task.bytes[login] or 0) + bytes
end

-- The refusal if the caller has no room to write so many bytes more, or nil.
local function refuse_bytes(bytes)
  local MOST_MIB, MOST_MIB_OF_LOGIN, MIB = 256, 64, 1048576
  if bytes == 0 then
    return nil
  end
  local own, all = unpack(redis.call('HMGET', keys.teams, '/bytes ' .. request.user_id, '/bytes'))
  if (own or 0) + bytes > MOST_MIB_OF_LOGIN * MIB then
    return refuse('TOO_MANY', 'MiB of tasks with their texts by one login', MOST_MIB_OF_LOGIN)
  elseif (all or 0) + bytes > MOST_MIB * MIB then
    return refuse('TOO_MANY', 'MiB of tasks with their texts in a repository', MOST_MIB)
  end
end
