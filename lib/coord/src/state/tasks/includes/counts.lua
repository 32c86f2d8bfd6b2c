-- How many tasks of the team are open and completed. Needs: team.
local function count_tasks(open, done)
  if open ~= 0 then
    redis.call('HINCRBY', keys.teams, team_key .. '/open', open)
  end
  if done ~= 0 then
    redis.call('HINCRBY', keys.teams, team_key .. '/done', done)
  end
end
