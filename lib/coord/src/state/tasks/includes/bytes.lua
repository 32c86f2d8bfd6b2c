-- What tasks take of the store, counted for the login that wrote it. Needs: team.
-- A task counts its own (`bytes` of includes/task.lua). What was written counts until its task is gone.
-- @include teams/bytes

-- Of a task, of a dependency, and of a note, beside their texts.
local BYTES_OF_TASK, BYTES_OF_DEPENDENCY, BYTES_OF_NOTE = 512, 200, 128

-- Notes in the task that the caller has written so many bytes more. The caller of this function counts them, and saves the task.
local function add_bytes(task, bytes)
  -- Some scripts look for names in the text of a task: no login is one of them.
  local login = '@' .. request.user_id
  task.bytes = task.bytes or {}
  task.bytes[login] = (task.bytes[login] or 0) + bytes
end

-- The refusal if the caller has no room to write so many bytes more, or nil.
local function refuse_bytes(bytes)
  local what, most = full_of('bytes', bytes)
  return what and refuse('TOO_MANY', what, most)
end
