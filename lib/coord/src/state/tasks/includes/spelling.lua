-- Two ids that differ in case alone: they would be one file on some disks. Needs: team.

-- What stands in keys.edges for an id with capitals, whatever these are.
local function spelling_mark(id)
  return 'i ' .. string.lower(id)
end

-- Whether there is a task of this id, whatever the case.
local function is_id_taken(id)
  return redis.call('HEXISTS', keys.tasks, string.lower(id)) == 1
    or redis.call('ZSCORE', keys.edges, spelling_mark(id)) ~= false
    -- One from before there were marks.
    or redis.call('HEXISTS', keys.tasks, id) == 1
end
