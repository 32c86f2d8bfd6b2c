-- settle_lapses: announces claims of a team's tasks that have lapsed, and puts the tasks back: for the sweep.
-- KEYS: 1 status log, 2 events channel, 3 team, 4 tasks, 5 unmet, 6 ready, 7 leases, 8 index of lapses,
--       9 members, 10 edges
-- ARGV: 1 team in lower case, 2 most claims to look at
-- Returns { SETTLED, now, how many had lapsed }
local Clock = require('clock')
local Task = require('tasks/task')

return function(KEYS, ARGV)
  local call = {}
  call.keys = {
    status_log = KEYS[1],
    events = KEYS[2],
    team = KEYS[3],
    tasks = KEYS[4],
    unmet = KEYS[5],
    ready = KEYS[6],
    leases = KEYS[7],
    lapses = KEYS[8],
    members = KEYS[9],
    edges = KEYS[10],
  }
  local most
  call.team_key, most = ARGV[1], tonumber(ARGV[2])
  call.team = nil
  Clock.begin(call)

  local stored = redis.call('HGET', call.keys.team, 'team')
  local count = 0
  if stored then
    call.team = cjson.decode(stored)
    count = Task.settle_lapsed(call, most)
  end
  -- The claims that are left; of a team that was deleted there are none. What was renewed since lapses later.
  local next_lapse = redis.call('ZRANGE', call.keys.leases, 0, 0, 'WITHSCORES')[2]
  if next_lapse then
    redis.call('ZADD', call.keys.lapses, math.ceil(next_lapse / 1000), call.team_key)
  else
    redis.call('ZREM', call.keys.lapses, call.team_key)
  end
  return { 'SETTLED', call.now, count }
end
