-- How many tasks of the team are open and completed. Needs: team.
local function count_tasks(open, done)
  if open ~= 0 then
    redis.call('HINCRBY', keys.teams, team_key .. '/open', open)
  end
  if done ~= 0 then
    redis.call('HINCRBY', keys.teams, team_key .. '/done', done)
  end
end

-- One open task less of the login that made it, of which keys.team has the number in `open LOGIN`.
local function close_task(task)
  local field = 'open ' .. (task.by_login or '')
  if redis.call('HINCRBY', keys.team, field, -1) <= 0 then
    redis.call('HDEL', keys.team, field)
  end
end
