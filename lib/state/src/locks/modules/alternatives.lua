-- Alternatives for a caller whose files are blocked by others' locks.
local Answer = require('answer')
local FreeFiles = require('locks/free_files')
local Offered = require('seams/offered')

local Alternatives = {}

-- Adds `suggested` to the answer, tasks of the caller's `teams`; if there are none, it adds `free`, free files near `paths`.
function Alternatives.add(call, answer, teams, paths, interface_of)
  local neighbor_policy = call.policy.neighbors
  answer.suggested = Answer.some(Offered.tasks(call, teams, neighbor_policy, interface_of))
  answer.free = not answer.suggested and Answer.some(FreeFiles.near(call, paths, neighbor_policy, interface_of)) or nil
end

return Alternatives
