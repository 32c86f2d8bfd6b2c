-- What the caller holds already. Needs: request, keys.locks.
-- @include locks/entries

-- Whether the caller already holds all of the files.
local function holds_all(paths)
  local is_held, seen = true, 0
  each_value(paths, function(_, value)
    local mine, entries = false, value and seen <= MOST_AT_ONCE and cjson.decode(value) or {}
    seen = seen + #entries
    for _, entry in ipairs(entries) do
      mine = mine or (entry.branch == request.branch and is_own(entry) and not has_expired(entry))
    end
    is_held = mine
    return mine
  end)
  return is_held
end
