-- Alternatives for a caller that others' locks block.
local Answer = require('answer')
local Free = require('locks/free')
local Offered = require('seams/offered')

local Instead = {}

-- Adds to the answer tasks of the caller's `teams`, `suggested`, or, if there are none, files near to `paths` that are free, `free`.
function Instead.add(call, answer, teams, paths, interface_of)
  local neighbor_policy = call.policy.neighbors
  answer.suggested = Answer.some(Offered.tasks(call, teams, neighbor_policy, interface_of))
  answer.free = not answer.suggested and Answer.some(Free.files(call, paths, neighbor_policy, interface_of)) or nil
end

return Instead
