-- probe: tests whether the store can be written.
-- KEYS: `probe`
-- ARGV: that of admission/request, with `kept_for`: seconds after which the key expires, and `bytes`: least number to write
-- Returns { WRITTEN, now }
local Clock = require('clock')
local Request = require('admission/request')

return function(KEYS, ARGV)
  local call = Request.read(KEYS, ARGV)
  Clock.begin(call)

  redis.call('SET', call.keys.probe, call.now .. string.rep(' ', call.request.bytes), 'EX', call.request.kept_for)
  return { 'WRITTEN', call.now }
end
