-- Two ids that differ only in case would be one file on some disks.
local TaskSpelling = {}

-- The mark in keys.edges for an id with capitals, wherever they are.
function TaskSpelling.spelling_mark(id)
  return 'i ' .. string.lower(id)
end

-- Whether there is a task with this id, in any case.
function TaskSpelling.is_id_taken(call, id)
  return redis.call('HEXISTS', call.keys.tasks, string.lower(id)) == 1
    or redis.call('ZSCORE', call.keys.edges, TaskSpelling.spelling_mark(id)) ~= false
    -- A task from before there were marks.
    or redis.call('HEXISTS', call.keys.tasks, id) == 1
end

return TaskSpelling
