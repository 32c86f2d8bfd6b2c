-- Expired claims of tasks: see sweep.lua. The sweep has the keys of no team, so this only finds the teams in which a claim may have
-- expired; settle_lapses.lua drops and announces the claims, for each team.
local Lapses = {}

-- The teams in which claims may have expired, and the next expiry, nil if nothing is claimed.
function Lapses.find(call)
  -- As many as a repository may have.
  local MAX_TEAMS = 100
  local due = redis.call('ZRANGEBYSCORE', call.keys.lapses, '-inf', call.now, 'LIMIT', 0, MAX_TEAMS)
  return due, redis.call('ZRANGE', call.keys.lapses, 0, 0, 'WITHSCORES')[2]
end

return Lapses
