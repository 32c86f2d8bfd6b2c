-- return_lease: returns the lease on a build that was cut off, so that another builder need not wait for its expiry.
-- KEYS: 1 graph
-- ARGV: 1 builder
-- Returns { RETURNED, now } or { LOST, now }: the lease is another's, or there is none
local Clock = require('clock')

return function(KEYS, ARGV)
  local call = {}
  local graph_key = KEYS[1]
  local builder = ARGV[1]
  Clock.begin(call)

  if redis.call('HGET', graph_key, 'builder') ~= builder then
    return { 'LOST', call.now }
  end
  redis.call('HDEL', graph_key, 'builder', 'building', 'lease_until', 'progress')
  return { 'RETURNED', call.now }
end
