-- sweep: drops and announces what has expired in one repository, of each kind, and events that are old. Its cost grows with what
-- has expired.
-- KEYS: 1 status log, 2 events channel, 3 mark, then those of each kind: 4 to 6 locks, 7 claims of tasks
-- ARGV: 1 most of each kind to look at
-- Returns { SWEPT, now, how many had expired, next expiry or '' where nothing is held, teams in which claims may have lapsed }
local keys = { status_log = KEYS[1], events = KEYS[2], mark = KEYS[3] }
local most = ARGV[1]
-- @include clock

-- A kind is an include that adds a function here: it drops up to `most` that have expired, and returns how many have and the next
-- expiry, nil where nothing of the kind is held.
local kinds, due_teams = {}, {}
-- @include locks/expired
-- @include tasks/lapses

-- How long events are kept, in days. A sweep follows on every claim, so that where nothing is claimed the log goes as a whole.
local EVENT_DAYS = 7

-- First, because a full store still allows deletions.
redis.call('XTRIM', keys.status_log, 'MINID', string.format('%.0f', now_ms - EVENT_DAYS * 86400000))
redis.call('EXPIRE', keys.status_log, EVENT_DAYS * 86400)

local count, earliest = 0, nil
for _, drop_expired in ipairs(kinds) do
  local dropped, next_expiry = drop_expired(most)
  count = count + dropped
  if next_expiry and (not earliest or tonumber(next_expiry) < tonumber(earliest)) then
    earliest = next_expiry
  end
end
if not earliest then
  -- This may be the last look: see mark_due.lua.
  redis.call('DEL', keys.mark)
end
return { 'SWEPT', now, count, earliest or '', due_teams }
