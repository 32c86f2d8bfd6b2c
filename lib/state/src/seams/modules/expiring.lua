-- Records that expire beside locks. An extension puts its function in place of this one.
local Expiring = {}

-- The names of the parts of the repository in which records may have expired, and the next expiry, nil where nothing is held.
function Expiring.find()
  return {}, nil
end

return Expiring
