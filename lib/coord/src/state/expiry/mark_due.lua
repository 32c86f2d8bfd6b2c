-- mark_due: puts a repository on the list of what is due before a lock is held in it, so that the sweep will look at it.
-- `coord:due` is one key for all repositories and so lives in another slot than any of them. A claim that would be granted
-- looks for a mark in its own slot, `coord:marked:{REPO}`; without one it answers MARK_FIRST. This script and the claim run in
-- one round trip then, or from the beginning where the process knows nothing of the repository; and the claim leaves the mark.
-- While there is a mark, a look of the sweep is still to come: the mark is written after this script has run, and goes with
-- the look that finds nothing held (sweep.lua). Such a look is followed by another one, unless it was the last (settle_due.lua).
-- A repository comes on the list anew before its next lock. A mark is believed for ten minutes, should the list be lost.
-- Where the claim is refused, unmark_due takes back what this script has put there, unless anybody else relies on it by now.
-- KEYS: 1 due, 2 who has put repositories there in the last minute
-- ARGV: 1 repository, 2 seconds that the lock will be held, 3 name of this claim, 4 seconds for which that is kept
-- Returns { MARKED, now, '1' if the repository was not on the list }
local due_key, claims_key = KEYS[1], KEYS[2]
local repository, ttl, claim, kept = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
-- @include clock

local is_new = not redis.call('ZSCORE', due_key, repository) or redis.call('HGET', claims_key, repository) == claim
redis.call('ZADD', due_key, 'LT', now + ttl, repository)
if is_new then
  redis.call('HSET', claims_key, repository, claim)
  redis.call('EXPIRE', claims_key, kept)
else
  redis.call('HDEL', claims_key, repository)
end
return { 'MARKED', now, is_new and '1' or '0' }
