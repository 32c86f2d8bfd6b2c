-- Files that the caller already holds.
local Entries = require('locks/entries')
local Request = require('admission/request')

local HoldsAll = {}

-- Whether the caller already holds all of the files.
function HoldsAll.of(call, paths)
  local is_held, seen = true, 0
  Entries.each_value(call, paths, function(_, value)
    local mine, entries = false, value and seen <= Entries.MOST_AT_ONCE and cjson.decode(value) or {}
    seen = seen + #entries
    for _, entry in ipairs(entries) do
      mine = mine or (entry.branch == call.request.branch and Request.is_own(call, entry) and not Entries.has_expired(call, entry))
    end
    is_held = mine
    return mine
  end)
  return is_held
end

return HoldsAll
