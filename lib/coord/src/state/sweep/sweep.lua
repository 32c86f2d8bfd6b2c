-- sweep: drops and announces what has expired in one repository, of each kind, and events that are old. Its cost grows with what
-- has expired.
-- KEYS: 1 status log, 2 events channel, 3 mark, then those of each kind: 4 to 6 locks, 7 claims of tasks
-- ARGV: 1 most of each kind to look at
-- Returns { SWEPT, now, how many had expired, next expiry or '' where nothing is held, teams in which claims may have lapsed }
local Clock = require('clock')
local Entries = require('locks/entries')
local Expired = require('locks/expired')
local Held = require('locks/held')
local Lapses = require('tasks/lapses')

return function(KEYS, ARGV)
  local call = {}
  call.keys = {
    status_log = KEYS[1],
    events = KEYS[2],
    mark = KEYS[3],
    locks = KEYS[4],
    expiries = KEYS[5],
    held = KEYS[6],
    lapses = KEYS[7],
  }
  local most = ARGV[1]
  Clock.begin(call)
  Entries.begin(call)
  Held.begin(call)

  -- How long events are kept, in days. A sweep follows on every claim, so that where nothing is claimed the log goes as a whole.
  local EVENT_DAYS = 7

  -- First, because a full store still allows deletions.
  redis.call('XTRIM', call.keys.status_log, 'MINID', string.format('%.0f', call.now_ms - EVENT_DAYS * 86400000))
  redis.call('EXPIRE', call.keys.status_log, EVENT_DAYS * 86400)

  local count, next_expiry = Expired.drop(call, most)
  local due_teams, next_lapse = Lapses.find(call)
  local earliest = next_expiry
  if next_lapse and (not earliest or tonumber(next_lapse) < tonumber(earliest)) then
    earliest = next_lapse
  end
  if not earliest then
    -- This may be the last look: see mark_due.lua.
    redis.call('DEL', call.keys.mark)
  end
  return { 'SWEPT', call.now, count, earliest or '', due_teams }
end
