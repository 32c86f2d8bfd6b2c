-- Cleanup after a deleted task.
local Chunks = require('chunks')
local Edges = require('tasks/edges')
local Task = require('tasks/task')
local TaskSpelling = require('tasks/spelling')
local TeamBytes = require('teams/bytes')

local Drop = {}

function Drop.drop_task(call, id)
  for login, bytes in pairs((Task.load_task(call, id) or {}).bytes or {}) do
    TeamBytes.count_bytes(call, 'bytes', string.sub(login, 2), -bytes)
  end
  -- All edges at once: a task on which 10,000 depend is as cheap to delete as to complete.
  local edges = { 'd ' .. id .. ' !', 'b ' .. id .. ' !', 'h ' .. id }
  if string.lower(id) ~= id then
    edges[#edges + 1] = TaskSpelling.spelling_mark(id)
  end
  for _, other in ipairs((Edges.ends_of(call, 'd', id))) do
    edges[#edges + 1] = 'd ' .. id .. ' ' .. other
    edges[#edges + 1] = 'b ' .. other .. ' ' .. id
    edges[#edges + 1] = 'c ' .. other .. ' ' .. id
  end
  for _, side in ipairs({ 'b', 'c' }) do
    for _, other in ipairs((Edges.ends_of(call, side, id))) do
      edges[#edges + 1] = side .. ' ' .. id .. ' ' .. other
      edges[#edges + 1] = 'd ' .. other .. ' ' .. id
    end
  end
  Chunks.call_in_chunks('ZREM', call.keys.edges, edges)
  redis.call('HDEL', call.keys.tasks, id)
  redis.call('HDEL', call.keys.texts, id, id .. ' notes', id .. ' result', id .. ' author')
  redis.call('HDEL', call.keys.unmet, id)
  for _, index in ipairs({ call.keys.order, call.keys.done, call.keys.ready, call.keys.leases }) do
    redis.call('ZREM', index, id)
  end
end

return Drop
