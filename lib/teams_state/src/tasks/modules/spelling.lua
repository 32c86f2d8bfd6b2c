-- Two ids that differ in case alone: they would be one file on some disks.
local TaskSpelling = {}

-- The mark in keys.edges for an id with capitals, whatever these are.
function TaskSpelling.spelling_mark(id)
  return 'i ' .. string.lower(id)
end

-- Whether there is a task of this id, whatever the case.
function TaskSpelling.is_id_taken(call, id)
  return redis.call('HEXISTS', call.keys.tasks, string.lower(id)) == 1
    or redis.call('ZSCORE', call.keys.edges, TaskSpelling.spelling_mark(id)) ~= false
    -- One from before there were marks.
    or redis.call('HEXISTS', call.keys.tasks, id) == 1
end

return TaskSpelling
