-- Writes `event` to the status log, which keeps the newest LOG_LENGTH events, and publishes it with its id.
-- The id is the cursor from which a reader resumes. Needs: status_log_key, events_channel, now.
--
-- An event is small, whatever it is about, so that the log is bounded in bytes too: it names at most MOST_NAMED files, of
-- MOST_NAMED_BYTES together, and counts all of them. sweep.lua bounds the log by age.
local LOG_LENGTH = 10000
local MOST_NAMED, MOST_NAMED_BYTES = 20, 1024

local function emit(event)
  event.time = now
  local body = cjson.encode(event)
  local id = redis.call('XADD', status_log_key, 'MAXLEN', LOG_LENGTH, '*', 'event', body)
  redis.call('PUBLISH', events_channel, '{"id":"' .. id .. '",' .. string.sub(body, 2))
end

-- As many of `paths` as an event names; nil for none, because an empty table would be an object of JSON.
local function names_of(paths)
  local named, bytes = {}, 0
  for index = 1, math.min(#paths, MOST_NAMED) do
    bytes = bytes + #paths[index]
    if bytes > MOST_NAMED_BYTES then
      break
    end
    named[index] = paths[index]
  end
  return #named > 0 and named or nil
end
