-- Alternatives for a caller whose files are blocked. An extension puts its function in place of this one.
local Offered = {}

-- As teams/suggested returns them.
function Offered.tasks()
  return {}
end

return Offered
