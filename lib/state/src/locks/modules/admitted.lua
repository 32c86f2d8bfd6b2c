-- The admission of requests about locks.
local Admission = require('admission/admission')
local GraphAge = require('builds/graph_age')
local ForceReleased = require('locks/force_released')

local Admitted = {}

-- The denial { NEEDS, now } if the repository uses features that the request has no keys for: intents, or pending changes. The same
-- request is made again with all keys.
local function needs_more(call)
  if not call.keys.pending and (call.governed or (GraphAge.load(call)[5] or '') ~= '') then
    return { 'NEEDS', call.now }
  end
end

-- Nil, or a denial: one of Admission.admit(), NEEDS, or ForceReleased.denial(). `is_renewal`: see Limits.count().
function Admitted.denial(call, paths, is_renewal, is_release)
  local denial = Admission.admit(call, is_renewal) or needs_more(call)
  if not denial and call.request.taken then
    denial = ForceReleased.denial(call, paths, is_release)
  end
  return denial
end

return Admitted
