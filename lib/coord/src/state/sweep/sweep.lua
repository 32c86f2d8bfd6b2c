-- sweep: drops and announces what has expired in one repository, and events that are old. Its cost grows with what has expired.
-- KEYS: 1 locks, 2 expiries, 3 status log, 4 events channel, 5 held, 6 mark
-- ARGV: 1 most files to look at
-- Returns { SWEPT, now, entries that had expired, next expiry or '' where nothing is held }
local keys = { locks = KEYS[1], expiries = KEYS[2], status_log = KEYS[3], events = KEYS[4], held = KEYS[5], mark = KEYS[6] }
local most_files = ARGV[1]
-- @include locks/changes

-- After this many entries the rest is left to the next call.
local MOST_ENTRIES = 500
-- How long events are kept, in days. A sweep follows on every claim, so that where nothing is claimed the log goes as a whole.
local EVENT_DAYS = 7

-- First, because a full store still lets go of what it has.
redis.call('XTRIM', keys.status_log, 'MINID', string.format('%.0f', now_ms - EVENT_DAYS * 86400000))
redis.call('EXPIRE', keys.status_log, EVENT_DAYS * 86400)

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
  -- This may be the last look: see mark_due.lua.
  redis.call('DEL', keys.held, keys.mark)
end
return { 'SWEPT', now, #expired, earliest[2] or '' }
