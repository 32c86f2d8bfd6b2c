-- probe: tests whether the store can be written.
-- KEYS: 1 probe
-- ARGV: 1 seconds after which the key expires, 2 least number of bytes to write
-- Returns { WRITTEN, now }
local Clock = require('clock')

return function(KEYS, ARGV)
  local call = {}
  local probe_key, kept_for, bytes = KEYS[1], ARGV[1], tonumber(ARGV[2])
  Clock.begin(call)

  redis.call('SET', probe_key, call.now .. string.rep(' ', bytes), 'EX', kept_for)
  return { 'WRITTEN', call.now }
end
