-- count_lookups: counts further lookups at the source for a request that was admitted; see modules/limits.lua.
-- KEYS, ARGV: those of admission/request, with `lookup`: COMMITS or BRANCH, `amount` of lookups, and `spared`: further lookups that must remain
-- Returns { COUNTED, now } or the denial LIMITED of Admission.admit(); then nothing is counted
local Clock = require('clock')
local Limits = require('admission/limits')
local Request = require('admission/request')

return function(KEYS, ARGV)
  local call = Request.begin(KEYS, ARGV)
  Clock.begin(call)
  Limits.begin(call)

  call.stored_limits.person = redis.call('GET', call.keys.person_limits)
  return Limits.count(call, call.request.lookup, nil, call.request.amount, call.request.spared) or { 'COUNTED', call.now }
end
