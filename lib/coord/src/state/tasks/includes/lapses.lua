-- Claims of tasks, as a kind of what expires: see sweep.lua. This script has the keys of no team, so that it only finds the teams in
-- which a claim may have lapsed; settle_lapses.lua drops and announces them, for each team.
-- KEYS: 7 index of lapses
keys.lapses = KEYS[7]

kinds[#kinds + 1] = function()
  -- As many as a repository may have.
  local MOST_TEAMS = 100
  due_teams = redis.call('ZRANGEBYSCORE', keys.lapses, '-inf', now, 'LIMIT', 0, MOST_TEAMS)
  return 0, redis.call('ZRANGE', keys.lapses, 0, 0, 'WITHSCORES')[2]
end
