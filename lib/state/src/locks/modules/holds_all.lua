-- Files that the caller already holds.
local Entries = require('locks/entries')
local Request = require('admission/request')

local HoldsAll = {}

-- Whether the caller already holds all of the files.
function HoldsAll.of(call, paths)
  local is_held, entry_count = true, 0
  Entries.each_value(call, paths, function(_, value)
    local is_mine, entries = false, value and entry_count <= Entries.MAX_AT_ONCE and cjson.decode(value) or {}
    entry_count = entry_count + #entries
    for _, entry in ipairs(entries) do
      is_mine = is_mine or (entry.branch == call.request.branch and Request.is_own(call, entry) and not Entries.has_expired(call, entry))
    end
    is_held = is_mine
    return is_mine
  end)
  return is_held
end

return HoldsAll
