-- sweep: drops and announces what has expired in one repository, and events that are old. Its cost grows with what has expired.
-- KEYS: 1 locks, 2 expiries, 3 status log, 4 events channel, 5 held, 6 mark
-- ARGV: 1 most files to look at
-- Returns { SWEPT, now, entries that had expired, next expiry or '' where nothing is held }
locks_key, expiries_key, status_log_key, events_channel, held_key = unpack(KEYS)
local most_files = ARGV[1]
-- After this many entries the rest is left to the next call.
local MOST_ENTRIES = 500
-- How long events are kept, in days. A sweep follows on every claim, so that where nothing is claimed the log goes as a whole.
local EVENT_DAYS = 7

-- First, because a full store still lets go of what it has.
redis.call('XTRIM', status_log_key, 'MINID', string.format('%.0f', now_ms - EVENT_DAYS * 86400000))
redis.call('EXPIRE', status_log_key, EVENT_DAYS * 86400)

local paths = redis.call('ZRANGEBYSCORE', expiries_key, '-inf', now, 'LIMIT', 0, most_files)
load_entries(paths, MOST_ENTRIES)
for _, path in ipairs(paths) do
  -- Written back even where nothing had expired: an index that has more than the locks, because somebody deleted those by
  -- hand, would be due for ever.
  is_changed[path] = entries_of[path] ~= nil or nil
end
save_entries()
local earliest = redis.call('ZRANGE', expiries_key, 0, 0, 'WITHSCORES')
if not earliest[2] then
  -- This may be the last look: see mark_due.lua.
  redis.call('DEL', held_key, KEYS[6])
end
return { 'SWEPT', now, #lapsed, earliest[2] or '' }
