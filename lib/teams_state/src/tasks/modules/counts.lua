-- How many tasks of the team are open and completed.
local Counts = {}

function Counts.count_tasks(call, open, done)
  if open ~= 0 then
    redis.call('HINCRBY', call.keys.teams, call.team_key .. '/open', open)
  end
  if done ~= 0 then
    redis.call('HINCRBY', call.keys.teams, call.team_key .. '/done', done)
  end
end

-- Subtracts an open task from the count of its creator's login, `open LOGIN` in keys.team.
function Counts.close_task(call, task)
  local field = 'open ' .. (task.by_login or '')
  if redis.call('HINCRBY', call.keys.team, field, -1) <= 0 then
    redis.call('HDEL', call.keys.team, field)
  end
end

return Counts
