-- Whether a member was seen lately; `seen_at` is when, Unix milliseconds, or nil. Needs: admission.
local function was_seen_lately(seen_at)
  local LIVE_FOR_MS = 900000
  return now_ms - (seen_at or 0) < LIVE_FOR_MS
end
