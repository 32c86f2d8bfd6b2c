-- unmark_due: removes a repository from the due list after the claim that put it there was refused, unless another claim or
-- a sweep relies on it since; see mark_due.lua.
-- KEYS: `due`, `claims` that have put repositories there in the last minute
-- ARGV: that of admission/request, with `repository`, and `claim`: its name
-- Returns { UNMARKED, now }
local Clock = require('clock')
local Request = require('admission/request')

return function(KEYS, ARGV)
  local call = Request.read(KEYS, ARGV)
  Clock.begin(call)
  local keys, repository = call.keys, call.request.repository

  if redis.call('HGET', keys.claims, repository) == call.request.claim then
    redis.call('HDEL', keys.claims, repository)
    redis.call('ZREM', keys.due, repository)
  end
  return { 'UNMARKED', call.now }
end
