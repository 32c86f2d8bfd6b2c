-- What a claim of files needs.
local Claiming = {}

return Claiming
