-- Bytes of tasks in the store, counted for the login that wrote them. A task counts its own (`bytes` of
-- modules/task.lua). A text counts until its task is gone.
local Team = require('teams/team')
local TeamBytes = require('teams/bytes')

local TaskBytes = {}

-- Of a task, of a dependency, and of a note, beside their texts.
local BYTES_OF_TASK, BYTES_OF_DEPENDENCY, BYTES_OF_NOTE = 512, 200, 128
TaskBytes.BYTES_OF_NOTE = BYTES_OF_NOTE
TaskBytes.BYTES_OF_DEPENDENCY = BYTES_OF_DEPENDENCY
TaskBytes.BYTES_OF_TASK = BYTES_OF_TASK

-- Notes in the task that the caller has written so many bytes more. The caller of this function counts them, and saves the task.
function TaskBytes.add_bytes(call, task, bytes)
  -- Some scripts look for names in the text of a task: no login is one of them.
  local login = '@' .. call.request.user_id
  task.bytes = task.bytes or {}
  task.bytes[login] = (task.bytes[login] or 0) + bytes
end

-- The refusal if the caller has no room to write so many bytes more, or nil.
function TaskBytes.refuse_bytes(call, bytes)
  local what, most = TeamBytes.full_of(call, 'bytes', bytes)
  return what and Team.refuse(call, 'TOO_MANY', { what = what, most = most })
end

return TaskBytes
