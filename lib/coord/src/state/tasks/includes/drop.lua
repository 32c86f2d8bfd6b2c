-- What a task leaves behind when it goes. Needs: team.
-- @include chunks
-- @include tasks/task
-- @include tasks/bytes
-- @include tasks/edges
-- @include tasks/spelling

local function drop_task(id)
  for login, bytes in pairs((load_task(id) or {}).bytes or {}) do
    count_bytes('bytes', string.sub(login, 2), -bytes)
  end
  -- At once: a task on which 10,000 depend is as cheap to delete as to complete.
  local gone = { 'd ' .. id .. ' !', 'b ' .. id .. ' !', 'h ' .. id }
  if string.lower(id) ~= id then
    gone[#gone + 1] = spelling_mark(id)
  end
  for _, other in ipairs((ends_of('d', id))) do
    gone[#gone + 1] = 'd ' .. id .. ' ' .. other
    gone[#gone + 1] = 'b ' .. other .. ' ' .. id
    gone[#gone + 1] = 'c ' .. other .. ' ' .. id
  end
  for _, side in ipairs({ 'b', 'c' }) do
    for _, other in ipairs((ends_of(side, id))) do
      gone[#gone + 1] = side .. ' ' .. id .. ' ' .. other
      gone[#gone + 1] = 'd ' .. other .. ' ' .. id
    end
  end
  call_in_chunks('ZREM', keys.edges, gone)
  redis.call('HDEL', keys.tasks, id)
  redis.call('HDEL', keys.texts, id, id .. ' notes', id .. ' result', id .. ' author')
  redis.call('HDEL', keys.unmet, id)
  for _, index in ipairs({ keys.order, keys.done, keys.ready, keys.leases }) do
    redis.call('ZREM', index, id)
  end
end
