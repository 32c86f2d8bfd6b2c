-- mark_due: puts a repository on the due list before a lock is held in it, so that the sweep will check it. `coord:due` is
-- one key for all repositories, and so in another slot than theirs. A claim that would be granted needs a mark in its own
-- slot, `coord:marked:{REPO}`; without one its outcome is MARK_FIRST. Then this script and the claim run in one round trip,
-- and the claim writes the mark. A process that knows nothing of the repository begins with both. While there is a mark, a
-- check by the sweep is still to come: the mark is written after this script, and deleted by the check that finds no lock
-- (sweep.lua). Another check follows that one, unless it was the last (settle_due.lua). The repository is listed again
-- before its next lock. A mark counts for ten minutes, in case the list is lost. After a refused claim, unmark_due removes
-- the entry of this script, unless another claim or a sweep relies on it.
-- KEYS: 1 due, 2 claims that have put repositories there in the last minute
-- ARGV: 1 repository, 2 seconds that the lock will be held, 3 name of this claim, 4 seconds for which the name is kept
-- Returns { MARKED, now, '1' if the repository was not on the list }
local Clock = require('clock')

return function(KEYS, ARGV)
  local call = {}
  local due_key, claims_key = KEYS[1], KEYS[2]
  local repository, ttl, claim, kept = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
  Clock.begin(call)

  local is_new = not redis.call('ZSCORE', due_key, repository) or redis.call('HGET', claims_key, repository) == claim
  redis.call('ZADD', due_key, 'LT', call.now + ttl, repository)
  if is_new then
    redis.call('HSET', claims_key, repository, claim)
    redis.call('EXPIRE', claims_key, kept)
  else
    redis.call('HDEL', claims_key, repository)
  end
  return { 'MARKED', call.now, is_new and '1' or '0' }
end
