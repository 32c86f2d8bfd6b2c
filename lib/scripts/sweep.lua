-- sweep: drops and announces what has expired in one repository. Its cost grows with what has expired.
-- KEYS: 1 locks, 2 expiries, 3 status log, 4 events channel
-- ARGV: 1 most files to look at
-- Returns { SWEPT, now, entries that had expired, next expiry or '' where nothing is held }
locks_key, expiries_key, status_log_key, events_channel = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local most_files = ARGV[1]

local paths = redis.call('ZRANGEBYSCORE', expiries_key, '-inf', now, 'LIMIT', 0, most_files)
load_entries(paths)
for _, path in ipairs(paths) do
  -- Written back even where nothing had expired: an index that has more than the locks, because somebody deleted those by
  -- hand, would be due for ever.
  is_changed[path] = true
end
save_entries()
local earliest = redis.call('ZRANGE', expiries_key, 0, 0, 'WITHSCORES')
return { 'SWEPT', now, #lapsed, earliest[2] or '' }
