-- Appends lines to the ledger, in order; `docs/ledger-format.md` has their form. Each is joined from texts, because cjson has
-- no order of members. Its chain is made later, in Rust: Redis' Lua has no SHA-256. Needs: request, keys.ledger.
-- @include clock

-- JSON of `text`; cjson escapes slashes, which the ledger does not.
local function json_text(text)
  return (string.gsub(cjson.encode(text), '\\/', '/'))
end

local lines_appended = 0

-- Appends a line. `intent`: an id, or ''; `state`: of the caller, before; `payload`, `result`: JSON. `origin`: the members
-- `metadata` and `trace_id`, the latter without its last quote: later lines of one script have a number added to it.
local function append_line(intent, state, action_type, payload, result, origin)
  -- UTC, with milliseconds: as `lib/intents/src/ledger/timestamp.rs`.
  local function timestamp()
    local day, time = math.floor(now / 86400) + 719468, now % 86400
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
    return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month, day, math.floor(time / 3600),
      math.floor(time / 60) % 60, time % 60, now_ms % 1000)
  end

  lines_appended = lines_appended + 1
  local who = request.user_id .. (request.agent_id ~= '' and '/' .. request.agent_id or '')
  local trace = origin .. (lines_appended > 1 and '.' .. lines_appended or '') .. '"'
  redis.call('XADD', keys.ledger, '*', 'line', '{"timestamp":"' .. timestamp() .. '","agent_id":' .. json_text(who)
    .. ',"intent_id":' .. (intent ~= '' and '"' .. intent .. '"' or 'null') .. ',"state":"' .. state .. '","action_type":"'
    .. action_type .. '","payload":' .. payload .. ',"result":' .. result .. ',' .. trace .. '}')
end
