-- Locks, as a kind of what expires: see sweep.lua.
-- KEYS: 4 locks, 5 their index by expiry, 6 held
keys.locks, keys.expiries, keys.held = KEYS[4], KEYS[5], KEYS[6]
-- @include locks/changes

kinds[#kinds + 1] = function(most_files)
  -- After this many entries the rest is left to the next call.
  local MOST_ENTRIES = 500
  local paths = redis.call('ZRANGEBYSCORE', keys.expiries, '-inf', now, 'LIMIT', 0, most_files)
  load_entries(paths, MOST_ENTRIES)
  for _, path in ipairs(paths) do
    -- Written back even where nothing had expired: an index that has more than the locks, because somebody deleted those by
    -- hand, would be due for ever.
    is_changed[path] = entries_of[path] ~= nil or nil
  end
  save_entries()
  local earliest = redis.call('ZRANGE', keys.expiries, 0, 0, 'WITHSCORES')
  if not earliest[2] then
    redis.call('DEL', keys.held)
  end
  return #expired, earliest[2]
end
