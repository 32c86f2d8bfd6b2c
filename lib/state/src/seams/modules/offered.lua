-- Alternatives for a caller whose files are blocked. An extension replaces this function.
local Offered = {}

-- As teams/suggested returns them.
function Offered.tasks()
  return {}
end

return Offered
