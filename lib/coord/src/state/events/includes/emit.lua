-- Events: a stream as the log, whose ids are the cursors from which readers resume, and a channel. Needs: keys.status_log,
-- keys.events, and keys.shares where a login makes the events.
-- @include clock

local is_room_known = not keys.shares

-- Writes `event` to the log, which keeps the newest 10,000 (sweep.lua limits their age), and publishes it with its id. Its field is
-- `event`, and behind a blank the login that caused it: `login`, where the event names no user.
local function emit(event, login)
  local MOST_EVENTS_KEPT = 10000
  event.time, login = now, event.user or login
  local body = cjson.encode(event)
  local field = login and 'event ' .. login or 'event'
  local id = redis.call('XADD', keys.status_log, 'MAXLEN', MOST_EVENTS_KEPT, '*', field, body)
  redis.call('PUBLISH', keys.events, '{"id":"' .. id .. '",' .. string.sub(body, 2))
  if not is_room_known then
    is_room_known = true
    if redis.call('XLEN', keys.status_log) >= MOST_EVENTS_KEPT then
      -- @include events/room
    end
  end
end

-- The part of `paths` that an event names; nil for none, because an empty table would become a JSON object. Events are
-- small, so that the log is limited in bytes too: they have few and short names, and the number of all.
local function names_of(paths)
  local MOST_NAMED, MOST_NAMED_BYTES = 20, 1024
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
