-- fail_build: records why a build failed, returns the lease, and blocks builds of that commit for a pause: twice as long
-- after each failure, ten minutes at most.
-- KEYS: `graph`
-- ARGV: that of admission/request, with `builder`, `commit`, `reason`
-- Returns { FAILED, now } or { LOST, now }: the builder lost the lease
local Clock = require('clock')
local Request = require('admission/request')

return function(KEYS, ARGV)
  local call = Request.read(KEYS, ARGV)
  Clock.begin(call)
  local request = call.request

  if redis.call('HGET', call.keys.graph, 'builder') ~= request.builder then
    return { 'LOST', call.now }
  end
  local failures = redis.call('HINCRBY', call.keys.graph, 'failures', 1)
  local retry_at = call.now + math.min(600, 5 * 2 ^ math.min(failures, 10))
  redis.call('HSET', call.keys.graph, 'failed', request.commit, 'failure', request.reason, 'retry_at', retry_at)
  redis.call('HDEL', call.keys.graph, 'builder', 'building', 'lease_until', 'progress')
  return { 'FAILED', call.now }
end
