-- What waits for the caller, for the answers to its requests. An extension puts its function in place of this one.
local Waiting = {}

-- What teams/waiting gives.
function Waiting.of_caller()
  return {}
end

return Waiting
