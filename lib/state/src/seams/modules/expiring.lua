-- Records other than locks that expire. An extension replaces this function.
local Expiring = {}

-- The names of the parts of the repository in which records may have expired, and the next expiry, nil if nothing is held.
function Expiring.find()
  return {}, nil
end

return Expiring
