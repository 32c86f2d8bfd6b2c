-- unmark_due: removes a repository from the due list after the claim that put it there was refused, unless another claim or
-- a sweep relies on it since; see mark_due.lua.
-- KEYS: 1 due, 2 claims that have put repositories there in the last minute
-- ARGV: 1 repository, 2 name of the claim
-- Returns { UNMARKED, now }
local Clock = require('clock')

return function(KEYS, ARGV)
  local call = {}
  local due_key, claims_key = KEYS[1], KEYS[2]
  local repository, claim = ARGV[1], ARGV[2]
  Clock.begin(call)

  if redis.call('HGET', claims_key, repository) == claim then
    redis.call('HDEL', claims_key, repository)
    redis.call('ZREM', due_key, repository)
  end
  return { 'UNMARKED', call.now }
end
