-- Edges between tasks: the dependencies, seen from both ends; see keys.rs.
local Edges = {}

-- The ids after 'd ID' (its dependencies), 'b ID' (the open tasks that depend on it) or 'c ID' (the completed ones that did), up to
-- `most`; and whether the task is completed.
function Edges.ends_of(call, side, id, most)
  local prefix = side .. ' ' .. id .. ' '
  local edges = redis.call('ZRANGEBYLEX', call.keys.edges, '[' .. prefix, '(' .. prefix .. '~', 'LIMIT', 0, most or -1)
  local ids, is_completed = {}, false
  for _, edge in ipairs(edges) do
    local other = string.sub(edge, #prefix + 1)
    -- The mark sorts before every id.
    if other == '!' then
      is_completed = true
    else
      ids[#ids + 1] = other
    end
  end
  return ids, is_completed
end

-- How many ids ends_of() would return.
function Edges.count_of_ends(call, side, id, is_completed)
  local prefix = side .. ' ' .. id .. ' '
  -- The mark of a completed task is not an id.
  return redis.call('ZLEXCOUNT', call.keys.edges, '[' .. prefix, '(' .. prefix .. '~') - (is_completed and 1 or 0)
end

-- Marks a task as completed. Nothing blocks it any more: its dependencies are history.
function Edges.mark_completed(call, id)
  local dependencies, added, removed = Edges.ends_of(call, 'd', id), { 0, 'd ' .. id .. ' !', 0, 'b ' .. id .. ' !' }, {}
  for index, other in ipairs(dependencies) do
    added[#added + 1] = 0
    added[#added + 1] = 'c ' .. other .. ' ' .. id
    removed[index] = 'b ' .. other .. ' ' .. id
  end
  if #removed > 0 then
    redis.call('ZREM', call.keys.edges, unpack(removed))
    redis.call('HDEL', call.keys.unmet, id)
  end
  redis.call('ZADD', call.keys.edges, unpack(added))
end

function Edges.set_unmet(call, id, count)
  if count > 0 then
    redis.call('HSET', call.keys.unmet, id, count)
  else
    redis.call('HDEL', call.keys.unmet, id)
  end
end

-- Which of `ids` are completed: id -> true; and which exist: id -> its task as JSON.
function Edges.statuses(call, ids)
  local AT_ONCE = 1000
  local completed, tasks = {}, {}
  for first = 1, #ids, AT_ONCE do
    local last = math.min(first + AT_ONCE - 1, #ids)
    local stored = redis.call('HMGET', call.keys.tasks, unpack(ids, first, last))
    for index = first, last do
      local task = stored[index - first + 1]
      tasks[ids[index]] = task
      -- No title can contain this: its quotes are escaped.
      completed[ids[index]] = task and string.find(task, '"status":"completed"', 1, true) ~= nil
    end
  end
  return completed, tasks
end

return Edges
