-- Pending messages and questions for the caller, for the answers to its requests. An extension replaces this function.
local Waiting = {}

-- As teams/waiting returns them.
function Waiting.of_caller()
  return {}
end

return Waiting
