-- count_lookups: counts further lookups at the source for a request that was admitted; see includes/limits.lua.
-- KEYS 1 to 8 and ARGV 1 to 16: those of includes/request.lua
-- ARGV: 17 COMMITS or BRANCH, 18 number of lookups, 19 number of further lookups that have to remain
-- Returns { COUNTED, now } or the denial LIMITED of admit(); then none of them is counted
local Clock = require('clock')
local Limits = require('admission/limits')
local Request = require('admission/request')

return function(KEYS, ARGV)
  local call = {}
  local kind, amount, spared = ARGV[17], tonumber(ARGV[18]), tonumber(ARGV[19])
  Request.begin(call, KEYS, ARGV)
  Clock.begin(call)
  Limits.begin(call)

  call.stored_limits.person = redis.call('GET', call.keys.person_limits)
  return Limits.count(call, kind, nil, amount, spared) or { 'COUNTED', call.now }
end
