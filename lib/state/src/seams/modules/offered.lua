-- What a caller whose files are blocked could do instead. An extension puts its function in place of this one.
local Offered = {}

-- What teams/suggested gives.
function Offered.tasks()
  return {}
end

return Offered
