-- Rate limits, by the generic cell rate algorithm (GCRA): one number under a key, the instant (milliseconds) at which all
-- that was let in has been worked off at the sustained rate. Needs: now_ms.

-- Whether one more may come: in how many seconds (0: now), and the instant that would then be under the key. `interval` is
-- the milliseconds between two at the sustained rate (0: no limit), `burst` how many may come at once.
local function one_more(stored, interval, burst)
  if interval == 0 then
    return 0, nil
  end
  local worked_off = math.max(tonumber(stored or 0), now_ms) + interval
  return math.max(0, math.ceil((worked_off - now_ms - interval * burst) / 1000)), worked_off
end

-- Counts one that was let in.
local function count_one(key, worked_off)
  if worked_off then
    redis.call('SET', key, string.format('%.0f', worked_off), 'PX', string.format('%.0f', worked_off - now_ms))
  end
end
