-- Pending messages and questions for the caller, for the answers to its requests. An extension puts its function in
-- place of this one.
local Waiting = {}

-- As teams/waiting returns them.
function Waiting.of_caller()
  return {}
end

return Waiting
