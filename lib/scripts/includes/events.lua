-- Writes `event` to the status log, which keeps the newest `LOG_LENGTH` events, and publishes it with its id.
-- The id is the cursor from which a reader resumes. Needs: status_log_key, events_channel, now.
local LOG_LENGTH = 10000

local function emit(event)
  event.time = now
  local body = cjson.encode(event)
  local id = redis.call('XADD', status_log_key, 'MAXLEN', LOG_LENGTH, '*', 'event', body)
  redis.call('PUBLISH', events_channel, '{"id":"' .. id .. '",' .. string.sub(body, 2))
end
