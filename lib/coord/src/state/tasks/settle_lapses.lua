-- settle_lapses: announces claims of a team's tasks that have lapsed, and puts the tasks back: for the sweep.
-- KEYS: 1 status log, 2 events channel, 3 team, 4 tasks, 5 unmet, 6 ready, 7 leases, 8 index of lapses,
--       9 members, 10 edges
-- ARGV: 1 team in lower case, 2 most claims to look at
-- Returns { SETTLED, now, how many had lapsed }
local keys = {
  status_log = KEYS[1], events = KEYS[2], team = KEYS[3], tasks = KEYS[4], unmet = KEYS[5], ready = KEYS[6], leases = KEYS[7],
  lapses = KEYS[8], members = KEYS[9], edges = KEYS[10],
}
local team_key, most = ARGV[1], tonumber(ARGV[2])
local team
-- @include clock
-- @include tasks/task

local stored = redis.call('HGET', keys.team, 'team')
local count = 0
if stored then
  team = cjson.decode(stored)
  count = settle_lapsed(most)
end
-- The claims that are left; of a team that was deleted there are none. What was renewed since lapses later.
local next_lapse = redis.call('ZRANGE', keys.leases, 0, 0, 'WITHSCORES')[2]
if next_lapse then
  redis.call('ZADD', keys.lapses, math.ceil(next_lapse / 1000), team_key)
else
  redis.call('ZREM', keys.lapses, team_key)
end
return { 'SETTLED', now, count }
