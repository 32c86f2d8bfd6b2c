-- settle_due: ends the lease of a sweep on one repository. A repository without locks is checked once more a lease later, as
-- `idle:REPOSITORY`, and only then removed: a claim that marked it before this sweep took it may still be in progress, and
-- no request lasts as long as a lease.
-- KEYS: `due`, `claims` that have put repositories there in the last minute
-- ARGV: that of admission/request, with `repository`, its `next_expiry`, absent if nothing is held, `was_last_look`: this was its last check,
-- and `turn`: seconds of a lease
-- Returns { SETTLED, now }
local Clock = require('clock')
local Request = require('admission/request')

return function(KEYS, ARGV)
  local call = Request.read(KEYS, ARGV)
  Clock.begin(call)
  local keys, request = call.keys, call.request
  local repository = request.repository

  redis.call('ZREM', keys.due, 'sweeping:' .. repository)
  if request.next_expiry then
    redis.call('ZADD', keys.due, 'LT', request.next_expiry, repository)
    -- The claim that marked it may no longer remove it.
    redis.call('HDEL', keys.claims, repository)
  elseif not request.was_last_look then
    redis.call('ZADD', keys.due, call.now + request.turn, 'idle:' .. repository)
  end
  return { 'SETTLED', call.now }
end
