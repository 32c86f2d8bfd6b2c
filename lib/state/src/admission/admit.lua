-- admit: admits a request that consists of reads only.
-- KEYS, ARGV: those of admission/request; after these, without names, the KEYS of hashes that the request reads whole
-- Returns { ADMITTED, now, answer }: the head (Answer.head); or one of the denials of Admission.admit()
local Admission = require('admission/admission')
local Answer = require('answer')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  local hashes = { unpack(KEYS, call.request.key_count + 1) }

  -- Reading this many fields costs as much as one request.
  local FIELDS_OF_A_REQUEST, fields = 500, 0
  for _, hash in ipairs(hashes) do
    fields = fields + redis.call('HLEN', hash)
  end
  call.request.cost = call.request.cost + math.floor(fields / FIELDS_OF_A_REQUEST)
  return Admission.admit(call) or Answer.reply(call, 'ADMITTED', Answer.head(call))
end
