-- mark_due: puts a repository on the due list before a lock is held in it, so that the sweep will check it. `coord:due` is
-- one key for all repositories, and so in a different slot. A claim that would be granted needs a mark in its own slot,
-- `coord:marked:{REPO}`; without one its outcome is MARK_FIRST. Then this script and the claim run in one round trip, and
-- the claim writes the mark. A process that has seen no claim in the repository begins with both. While there is a mark,
-- the sweep still has to check: the mark is written after this script, and the check that finds no lock deletes it
-- (sweep.lua). Another check follows that one, unless it was the last (settle_due.lua). The repository is listed again
-- before its next lock. A mark counts for ten minutes, in case the list is lost. After a refused claim, unmark_due removes
-- the entry of this script, unless another claim or a sweep relies on it.
-- KEYS: `due`, `claims` that have put repositories there in the last minute
-- ARGV: that of admission/request, with `repository`, `ttl`: seconds that the lock will be held, `claim`: name of this one, and `kept_for`:
-- seconds for which the name is kept
-- Returns { MARKED, now } or { KNOWN, now }: the repository was on the list
local Clock = require('clock')
local Request = require('admission/request')

return function(KEYS, ARGV)
  local call = Request.read(KEYS, ARGV)
  Clock.begin(call)
  local keys, repository, claim = call.keys, call.request.repository, call.request.claim

  local is_new = not redis.call('ZSCORE', keys.due, repository) or redis.call('HGET', keys.claims, repository) == claim
  redis.call('ZADD', keys.due, 'LT', call.now + call.request.ttl, repository)
  if is_new then
    redis.call('HSET', keys.claims, repository, claim)
    redis.call('EXPIRE', keys.claims, call.request.kept_for)
  else
    redis.call('HDEL', keys.claims, repository)
  end
  return { is_new and 'MARKED' or 'KNOWN', call.now }
end
