-- settle_lapses: announces expired claims of a team's tasks, and returns the tasks to the queue. The sweep calls it.
-- KEYS: `status_log`, `events`, `team`, `tasks`, `unmet`, `ready`, `leases`, `lapses`, `members`, `edges`
-- The request has `team` in lower case, and `most` claims to look at.
-- Returns { SETTLED, now, answer }: JSON with `count`: how many expired
local Answer = require('answer')
local Clock = require('clock')
local Request = require('admission/request')
local Task = require('tasks/task')

return function(KEYS, ARGV)
  local call = Request.begin(KEYS, ARGV)
  Clock.begin(call)
  call.team_key = call.request.team

  local stored = redis.call('HGET', call.keys.team, 'team')
  local count = 0
  if stored then
    call.team = cjson.decode(stored)
    count = Task.settle_lapsed(call, call.request.most)
  end
  -- The index gets the next expiry of the remaining claims, since renewed claims expire later. A deleted team has none.
  local next_lapse = redis.call('ZRANGE', call.keys.leases, 0, 0, 'WITHSCORES')[2]
  if next_lapse then
    redis.call('ZADD', call.keys.lapses, math.ceil(next_lapse / 1000), call.team_key)
  else
    redis.call('ZREM', call.keys.lapses, call.team_key)
  end
  return Answer.reply(call, 'SETTLED', { count = count })
end
