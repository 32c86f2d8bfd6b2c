-- fail_build: records why a build failed, returns the lease, and blocks builds of that commit for a pause: twice as long
-- after each failure, ten minutes at most.
-- KEYS: 1 graph
-- ARGV: 1 builder, 2 commit, 3 reason
-- Returns { FAILED, now, time of the next attempt } or { LOST, now }: the lease is another's
local Clock = require('clock')

return function(KEYS, ARGV)
  local call = {}
  local graph_key = KEYS[1]
  local builder, commit, reason = ARGV[1], ARGV[2], ARGV[3]
  Clock.begin(call)

  if redis.call('HGET', graph_key, 'builder') ~= builder then
    return { 'LOST', call.now }
  end
  local failures = redis.call('HINCRBY', graph_key, 'failures', 1)
  local retry_at = call.now + math.min(600, 5 * 2 ^ math.min(failures, 10))
  redis.call('HSET', graph_key, 'failed', commit, 'failure', reason, 'retry_at', retry_at)
  redis.call('HDEL', graph_key, 'builder', 'building', 'lease_until', 'progress')
  return { 'FAILED', call.now, retry_at }
end
