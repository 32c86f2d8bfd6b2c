-- mark_due: notes that a repository is about to hold a lock, so that the sweep will look at it. It runs just before the
-- claim, in the same round trip, as a script of its own: `coord:due` is one key for all repositories and so lives in another
-- slot than any of them. If the claim is then refused, the sweep looks once in vain.
-- KEYS: 1 due
-- ARGV: 1 repository, 2 seconds that the lock will be held
-- Returns { MARKED, now }
local due_key = KEYS[1]
local repository, ttl = ARGV[1], tonumber(ARGV[2])

redis.call('ZADD', due_key, 'LT', now + ttl, repository)
return { 'MARKED', now }
