-- What a request about locks has no keys for, as long as its repository is not known to use it: intents, and pending changes.
local GraphAge = require('builds/graph_age')

local Uses = {}

-- The denial { NEEDS, now } where the repository uses them: the same request is made again with all keys.
function Uses.denial(call)
  if not call.keys.intents and (call.governed or (GraphAge.load(call)[5] or '') ~= '') then
    return { 'NEEDS', call.now }
  end
end

return Uses
