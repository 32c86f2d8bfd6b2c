-- Whether a refusal is to be logged: the same one of the same request once in REFUSAL_SECONDS. `refusals` is a hash of a
-- request's digest -> time of its log entry, and number of refusals since. It is deleted when it has become large. Needs:
-- keys.refusals.
-- @include clock

-- Returns how often it was repeated since it was logged, or nil where that was less than REFUSAL_SECONDS ago. `told`: texts
-- that tell it from others.
local function first_refusal(told)
  local REFUSAL_SECONDS, MOST_REFUSALS, REFUSALS_FOR = 60, 1000, 3600
  local digest = redis.sha1hex(table.concat(told, '\n'))
  local noted = redis.call('HGET', keys.refusals, digest)
  local logged_at, repeated = string.match(noted or '0 0', '^(%d+) (%d+)$')
  if math.abs(now - logged_at) < REFUSAL_SECONDS then
    redis.call('HSET', keys.refusals, digest, logged_at .. ' ' .. repeated + 1)
    return nil
  end
  if not noted and redis.call('HLEN', keys.refusals) >= MOST_REFUSALS then
    redis.call('DEL', keys.refusals)
  end
  redis.call('HSET', keys.refusals, digest, now .. ' 0')
  redis.call('EXPIRE', keys.refusals, REFUSALS_FOR)
  return tonumber(repeated)
end
