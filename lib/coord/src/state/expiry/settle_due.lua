-- settle_due: ends the lease of a sweep on one repository. A repository without locks is checked once more a lease later, as
-- `idle:REPOSITORY`, and only then removed: a claim that marked it before this sweep took it may still be in progress, and
-- no request lasts as long as a lease.
-- KEYS: 1 due, 2 claims that have put repositories there in the last minute
-- ARGV: 1 repository, 2 its next expiry, or '' if nothing is held, 3 '1' if this was its last check, 4 seconds of a lease
-- Returns { SETTLED, now }
local Clock = require('clock')

return function(KEYS, ARGV)
  local call = {}
  local due_key, claims_key = KEYS[1], KEYS[2]
  local repository, next_expiry, was_last_look, turn = ARGV[1], ARGV[2], ARGV[3] == '1', tonumber(ARGV[4])
  Clock.begin(call)

  redis.call('ZREM', due_key, 'sweeping:' .. repository)
  if next_expiry ~= '' then
    redis.call('ZADD', due_key, 'LT', next_expiry, repository)
    -- The claim that has put it there may no longer remove it.
    redis.call('HDEL', claims_key, repository)
  elseif not was_last_look then
    redis.call('ZADD', due_key, call.now + turn, 'idle:' .. repository)
  end
  return { 'SETTLED', call.now }
end
