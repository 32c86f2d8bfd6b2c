-- Bytes of tasks in the store, counted for the login that wrote them. A task has its own count (`bytes` of
-- modules/task.lua). A text counts until its task is gone.
local Team = require('teams/team')
local TeamBytes = require('teams/bytes')

local TaskBytes = {}

-- Bytes of a task, a dependency and a note, in addition to their texts.
local BYTES_OF_TASK, BYTES_OF_DEPENDENCY, BYTES_OF_NOTE = 512, 200, 128
TaskBytes.BYTES_OF_NOTE = BYTES_OF_NOTE
TaskBytes.BYTES_OF_DEPENDENCY = BYTES_OF_DEPENDENCY
TaskBytes.BYTES_OF_TASK = BYTES_OF_TASK

-- Records in the task that the caller has written `bytes` more. The calling code counts them, and saves the task.
function TaskBytes.add_bytes(call, task, bytes)
  -- Some scripts search the text of a task for names of fields: with `@`, no login looks like one.
  local login = '@' .. call.request.user_id
  task.bytes = task.bytes or {}
  task.bytes[login] = (task.bytes[login] or 0) + bytes
end

-- The refusal if the caller may not store `bytes` more, or nil.
function TaskBytes.refuse_bytes(call, bytes)
  local limit, most = TeamBytes.exceeded_limit(call, 'bytes', bytes)
  return limit and Team.refuse(call, 'TOO_MANY', { what = limit, most = most })
end

return TaskBytes
