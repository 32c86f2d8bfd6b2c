-- Makes room in a full log of `most` events: drops an eighth of it, so that this happens seldom. First it drops the oldest events of
-- each login that has more than a quarter, so that no login evicts the events of others; then the oldest of all. The field
-- '\nevents' of keys.shares is the newest dropped event: a reader whose cursor is before it has missed events.
local Room = {}

function Room.make_room(call, most)
  local DROPPED, MAX_PER_LOGIN, AT_ONCE = most / 8, most / 4, 500
  local ids, fields, counts, first = {}, {}, {}, '-'
  repeat
    local entries = redis.call('XRANGE', call.keys.status_log, first, '+', 'COUNT', AT_ONCE)
    for _, entry in ipairs(entries) do
      local field = entry[2][1]
      ids[#ids + 1], fields[#fields + 1], counts[field] = entry[1], field, (counts[field] or 0) + 1
    end
    if #entries > 0 then
      local milliseconds, number = string.match(ids[#ids], '^(%d+)-(%d+)$')
      first = milliseconds .. '-' .. string.format('%.0f', number + 1)
    end
  until #entries < AT_ONCE
  local dropped, is_dropped, newest = {}, {}, 1
  for _, keeps_shares in ipairs({ true, false }) do
    for index, field in ipairs(fields) do
      local is_over_share = field ~= 'event' and counts[field] > MAX_PER_LOGIN
      if #dropped < DROPPED and not is_dropped[index] and (is_over_share or not keeps_shares) then
        dropped[#dropped + 1], is_dropped[index], newest = ids[index], true, math.max(newest, index)
        counts[field] = counts[field] - 1
      end
    end
  end
  for from = 1, #dropped, AT_ONCE do
    redis.call('XDEL', call.keys.status_log, unpack(dropped, from, math.min(from + AT_ONCE - 1, #dropped)))
  end
  redis.call('HSET', call.keys.shares, '\nevents', ids[newest])
end

return Room
