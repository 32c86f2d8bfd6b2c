-- Expired locks: see sweep.lua.
local Entries = require('locks/entries')
local LockChanges = require('locks/changes')

local Expired = {}

-- Drops the expired locks of up to `most_files` files; returns their number, and the next expiry, nil if nothing is held.
function Expired.drop(call, most_files)
  -- After this many entries, the next call drops the rest.
  local MAX_ENTRIES = 500
  local paths = redis.call('ZRANGEBYSCORE', call.keys.expiries, '-inf', call.now, 'LIMIT', 0, most_files)
  Entries.load(call, paths, MAX_ENTRIES)
  for _, path in ipairs(paths) do
    -- Written even if nothing had expired: if locks were deleted by hand, their entries in the index would be due forever.
    call.is_changed[path] = call.entries_of[path] ~= nil or nil
  end
  LockChanges.save(call)
  local earliest = redis.call('ZRANGE', call.keys.expiries, 0, 0, 'WITHSCORES')
  if not earliest[2] then
    redis.call('DEL', call.keys.held)
  end
  return #call.expired, earliest[2]
end

return Expired
