-- The store's clock, the same for the whole script: Unix seconds, and milliseconds.
local Clock = {}

function Clock.begin(call)
  call.clock = redis.call('TIME')
  call.now, call.now_ms = tonumber(call.clock[1]), call.clock[1] * 1000 + math.floor(call.clock[2] / 1000)
end

return Clock
