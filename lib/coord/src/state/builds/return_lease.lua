-- return_lease: returns the lease on a build that was cut off, so that another builder need not wait for its expiry.
-- KEYS: 1 graph
-- ARGV: 1 builder
-- Returns { RETURNED, now } or { LOST, now }: the lease is another's, or there is none
local graph_key = KEYS[1]
local builder = ARGV[1]
-- @include clock

if redis.call('HGET', graph_key, 'builder') ~= builder then
  return { 'LOST', now }
end
redis.call('HDEL', graph_key, 'builder', 'building', 'lease_until', 'progress')
return { 'RETURNED', now }
