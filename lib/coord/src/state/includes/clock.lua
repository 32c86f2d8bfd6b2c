-- The store's clock, the same for the whole script: Unix seconds, and milliseconds.
local clock = redis.call('TIME')
local now, now_ms = tonumber(clock[1]), clock[1] * 1000 + math.floor(clock[2] / 1000)
