-- Charges the caller for costs beyond the number of its paths.
local Adjacency = require('builds/adjacency')
local Limits = require('admission/limits')

local Charge = {}

-- Charges for locks and lines of the graph that were read. Measured: redis-server reads this much in a millisecond
-- (docs/internals/admission.md).
function Charge.for_reads(call)
  local ENTRIES_OF_A_REQUEST, LINES_OF_A_REQUEST = 80, 1250
  local work = math.floor(call.loaded / ENTRIES_OF_A_REQUEST + (Adjacency.MAX_LINES - call.lines_left) / LINES_OF_A_REQUEST)
    - call.request.cost
  if work > 0 then
    Limits.count(call, 'WORK', nil, work)
  end
end

return Charge
