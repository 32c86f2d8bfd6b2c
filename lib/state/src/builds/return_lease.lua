-- return_lease: returns the lease on a build that was cut off, so that another builder need not wait for its expiry.
-- KEYS: `graph`
-- ARGV: that of admission/request, with `builder`
-- Returns { RETURNED, now } or { LOST, now }: the builder lost the lease, or there is none
local Clock = require('clock')
local Request = require('admission/request')

return function(KEYS, ARGV)
  local call = Request.read(KEYS, ARGV)
  Clock.begin(call)

  if redis.call('HGET', call.keys.graph, 'builder') ~= call.request.builder then
    return { 'LOST', call.now }
  end
  redis.call('HDEL', call.keys.graph, 'builder', 'building', 'lease_until', 'progress')
  return { 'RETURNED', call.now }
end
