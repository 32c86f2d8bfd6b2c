-- Whether a member was seen lately; `seen_at` is the last time, Unix milliseconds, or nil.
local Live = {}

function Live.was_seen_lately(call, seen_at)
  local LIVE_FOR_MS = 900000
  return call.now_ms - (seen_at or 0) < LIVE_FOR_MS
end

return Live
