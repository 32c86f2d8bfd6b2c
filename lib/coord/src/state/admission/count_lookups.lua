-- count_lookups: counts further lookups at the source for a request that was admitted; see modules/limits.lua.
-- KEYS: those of admission/request
-- ARGV: that of admission/request, then 2 COMMITS or BRANCH, 3 number of lookups, 4 number of further lookups that have to remain
-- Returns { COUNTED, now } or the denial LIMITED of Admission.admit(); then none of them is counted
local Clock = require('clock')
local Limits = require('admission/limits')
local Request = require('admission/request')

return function(KEYS, ARGV)
  local call = {}
  local kind, amount, spared = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
  Request.begin(call, KEYS, ARGV)
  Clock.begin(call)
  Limits.begin(call)

  call.stored_limits.person = redis.call('GET', call.keys.person_limits)
  return Limits.count(call, kind, nil, amount, spared) or { 'COUNTED', call.now }
end
