-- Claims of tasks, as a kind of what expires: see sweep.lua. It has the keys of no team, so that it only finds the teams in which a claim
-- may have expired; settle_lapses.lua drops and announces them, for each team.
local Lapses = {}

-- The teams in which claims may have expired, and the next expiry, nil if nothing is claimed.
function Lapses.find(call)
  -- As many as a repository may have.
  local MOST_TEAMS = 100
  local due = redis.call('ZRANGEBYSCORE', call.keys.lapses, '-inf', call.now, 'LIMIT', 0, MOST_TEAMS)
  return due, redis.call('ZRANGE', call.keys.lapses, 0, 0, 'WITHSCORES')[2]
end

return Lapses
