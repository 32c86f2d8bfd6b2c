-- Events: a stream as the log, whose ids are the cursors from which readers resume, and a channel.
local Room = require('events/room')

local Emit = {}

local MAX_EVENTS_KEPT = 10000

-- call.is_room_known: whether this call has already made room in the log if it was full

-- Writes `event` to the log, which keeps the newest 10,000 (sweep.lua limits their age), and publishes it with its id. Its field is
-- `event`, and after a blank the login that caused it: `login` if the event names no user.
function Emit.event(call, event, login)
  event.time, login = call.now, event.user or login
  local body = cjson.encode(event)
  local field = login and 'event ' .. login or 'event'
  local id = redis.call('XADD', call.keys.status_log, 'MAXLEN', MAX_EVENTS_KEPT, '*', field, body)
  redis.call('PUBLISH', call.keys.events, '{"id":"' .. id .. '",' .. string.sub(body, 2))
  if call.keys.shares and not call.is_room_known then
    call.is_room_known = true
    if redis.call('XLEN', call.keys.status_log) >= MAX_EVENTS_KEPT then
      Room.make_room(call, MAX_EVENTS_KEPT)
    end
  end
end

-- The first of `paths`, as many as an event names; nil for none, because an empty table would become a JSON object. Events
-- are small, which bounds the log in bytes too: an event has few names, and the number of all.
function Emit.names_of(paths)
  local MAX_NAMED, MAX_NAMED_BYTES = 20, 1024
  local names, bytes = {}, 0
  for index = 1, math.min(#paths, MAX_NAMED) do
    bytes = bytes + #paths[index]
    if bytes > MAX_NAMED_BYTES then
      break
    end
    names[index] = paths[index]
  end
  return #names > 0 and names or nil
end

return Emit
