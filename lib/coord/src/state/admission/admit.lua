-- admit: admits a request that consists of reads only; see includes/admission.lua.
-- KEYS 1 to 8 and ARGV: those of includes/request.lua; KEYS 9...: hashes that are read whole with it
-- Returns { ADMITTED, now, head or '', its age in seconds or '', '1' if it is unconfirmed } or one of the denials of admit()
local hashes = { unpack(KEYS, 9) }
-- @include admission/admission

-- Fields that are read for the price of one request.
local FIELDS_OF_A_REQUEST, fields = 500, 0
for _, hash in ipairs(hashes) do
  fields = fields + redis.call('HLEN', hash)
end
request.cost = request.cost + math.floor(fields / FIELDS_OF_A_REQUEST)
return admit() or { 'ADMITTED', now, head.commit, head.age, head.is_unconfirmed }
