-- sweep: drops and announces the expired records of one repository, of each kind, and drops old events. Its cost grows with the
-- number of expired records.
-- KEYS: `status_log`, `events`, `mark`, then those of each kind: of locks `locks`, `expiries`, `held`
-- ARGV: that of admission/request, with `most` of each kind to look at
-- Returns { SWEPT, now, answer }: `expired`: how many expired, `next_expiry`, absent where nothing is held, `due`, the names
--           that Expiring.find() found
local Answer = require('answer')
local Clock = require('clock')
local Entries = require('locks/entries')
local Expired = require('locks/expired')
local Expiring = require('seams/expiring')
local Held = require('locks/held')
local Request = require('admission/request')

return function(KEYS, ARGV)
  local call = Request.read(KEYS, ARGV)
  Clock.begin(call)
  Entries.begin(call)
  Held.begin(call)

  -- How long events are kept, in days. A sweep follows every claim, so without claims the whole log expires.
  local EVENT_DAYS = 7

  -- First, because a full store still allows deletions.
  redis.call('XTRIM', call.keys.status_log, 'MINID', string.format('%.0f', call.now_ms - EVENT_DAYS * 86400000))
  redis.call('EXPIRE', call.keys.status_log, EVENT_DAYS * 86400)

  local count, next_expiry = Expired.drop(call, call.request.most)
  local due, next_record_expiry = Expiring.find(call)
  local earliest = next_expiry
  if next_record_expiry and (not earliest or tonumber(next_record_expiry) < tonumber(earliest)) then
    earliest = next_record_expiry
  end
  if not earliest then
    -- This may be the last check: see mark_due.lua.
    redis.call('DEL', call.keys.mark)
  end
  return Answer.reply(call, 'SWEPT', { expired = count, next_expiry = tonumber(earliest), due = Answer.some(due) })
end
