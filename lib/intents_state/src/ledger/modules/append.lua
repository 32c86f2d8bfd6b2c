-- Appends lines to the ledger, in order; `docs/reference/ledger.md` has their form. A line is joined from texts, because cjson does
-- not keep the order of members. Rust chains it later: Redis' Lua has no SHA-256.
local Limits = require('admission/limits')

local Append = {}

-- A login has a share of the ledger, so that it cannot evict the lines of others: half of the lines that are kept, and as much
-- again each day. While no other login has appended for a day, it has no limit: then only its own lines go. keys.shares: a line
-- feed -> maximum of kept lines (seal_ledger.lua); login -> theoretical arrival time and time of its last line, milliseconds.
-- The share is used up if the arrival is a day ahead.
local SHARE_MS = 86400000

function Append.begin(call)
  -- call.share: of the caller, once it is read: `arrival`, `interval` (0 before the first seal), `most`
  call.lines_appended = 0
end

local function load_share(call)
  if not call.share then
    local most, stored = unpack(redis.call('HMGET', call.keys.shares, '\n', call.request.user_id))
    call.share = { most = tonumber(most or 0), arrival = tonumber(string.match(stored or '', '^%S+') or 0) }
    call.share.interval = call.share.most > 0 and SHARE_MS / (call.share.most / 2) or 0
    -- Further ahead: the clock was set back.
    call.share.arrival = call.share.arrival <= call.now_ms + SHARE_MS and call.share.arrival or 0
  end
  return call.share
end

-- Nil, or the denial LIMITED (Limits.denial(), LEDGER) if the caller has no share left for so many lines. A script calls this before it
-- changes anything: no change happens without its line.
function Append.full_ledger(call, lines)
  local over = math.max(load_share(call).arrival, call.now_ms) + call.share.interval * lines - call.now_ms - SHARE_MS
  if over <= 0 then
    return nil
  end
  -- The hash has the maximum of kept lines, and at most one login. The field of dropped events is not a login.
  local is_alone = redis.call('HLEN', call.keys.shares) - redis.call('HEXISTS', call.keys.shares, '\nevents') <= 2
  if is_alone and redis.call('XLEN', call.keys.ledger) < 2 * call.share.most then
    return nil
  end
  return Limits.denial(call, math.max(1, math.ceil(over / 1000)), 'LEDGER')
end

-- JSON of `text`; cjson escapes slashes, which the ledger does not.
function Append.json_text(text)
  return (string.gsub(cjson.encode(text), '\\/', '/'))
end

-- Appends a line. `intent`: an id, or ''; `state`: of the caller, before; `payload`, `result`: JSON. `origin`: the members
-- `metadata` and `trace_id`, the latter without its last quote: later lines of one script have a number added to it.
function Append.append_line(call, intent, state, action_type, payload, result, origin)
  -- UTC, with milliseconds: as `lib/intents/src/ledger/timestamp.rs`.
  local function timestamp()
    local day, time = math.floor(call.now / 86400) + 719468, call.now % 86400
    local era = math.floor(day / 146097)
    day = day % 146097
    local year = math.floor((day - math.floor(day / 1460) + math.floor(day / 36524) - math.floor(day / 146096)) / 365)
    day = day - (365 * year + math.floor(year / 4) - math.floor(year / 100))
    local month = math.floor((5 * day + 2) / 153)
    day = day - math.floor((153 * month + 2) / 5) + 1
    year = year + era * 400
    if month < 10 then
      month = month + 3
    else
      month, year = month - 9, year + 1
    end
    return string.format(
      '%04d-%02d-%02dT%02d:%02d:%02d.%03dZ',
      year,
      month,
      day,
      math.floor(time / 3600),
      math.floor(time / 60) % 60,
      time % 60,
      call.now_ms % 1000
    )
  end

  call.lines_appended = call.lines_appended + 1
  load_share(call)
  call.share.arrival = math.min(math.max(call.share.arrival, call.now_ms) + call.share.interval, call.now_ms + SHARE_MS)
  redis.call('HSET', call.keys.shares, call.request.user_id, string.format('%.3f %.0f', call.share.arrival, call.now_ms))
  local who = call.request.user_id .. (call.request.agent_id ~= '' and '/' .. call.request.agent_id or '')
  local trace = origin .. (call.lines_appended > 1 and '.' .. call.lines_appended or '') .. '"'
  redis.call(
    'XADD',
    call.keys.ledger,
    '*',
    'line',
    '{"timestamp":"'
      .. timestamp()
      .. '","agent_id":'
      .. Append.json_text(who)
      .. ',"intent_id":'
      .. (intent ~= '' and '"' .. intent .. '"' or 'null')
      .. ',"state":"'
      .. state
      .. '","action_type":"'
      .. action_type
      .. '","payload":'
      .. payload
      .. ',"result":'
      .. result
      .. ','
      .. trace
      .. '}'
  )
end

return Append
