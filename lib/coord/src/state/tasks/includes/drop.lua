-- What a task leaves behind when it goes. Needs: team.
-- @include tasks/edges

local function drop_task(id)
  for _, other in ipairs((ends_of('d', id))) do
    unlink(id, other)
  end
  for _, other in ipairs((ends_of('b', id))) do
    unlink(other, id)
  end
  redis.call('ZREM', keys.edges, 'd ' .. id .. ' !', 'b ' .. id .. ' !')
  redis.call('HDEL', keys.tasks, id)
  redis.call('HDEL', keys.texts, id, id .. ' notes', id .. ' result')
  redis.call('HDEL', keys.unmet, id)
  for _, index in ipairs({ keys.order, keys.done, keys.ready, keys.leases }) do
    redis.call('ZREM', index, id)
  end
end
