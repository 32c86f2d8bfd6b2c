-- admit: admits a request that consists of reads only.
-- KEYS, ARGV: those of admission/request; the KEYS behind these, which have no names: hashes that are read whole with it
-- Returns { ADMITTED, now, answer }: the head (Answer.head); or one of the denials of Admission.admit()
local Admission = require('admission/admission')
local Answer = require('answer')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  local hashes = { unpack(KEYS, call.request.key_count + 1) }

  -- Fields that are read for the price of one request.
  local FIELDS_OF_A_REQUEST, fields = 500, 0
  for _, hash in ipairs(hashes) do
    fields = fields + redis.call('HLEN', hash)
  end
  call.request.cost = call.request.cost + math.floor(fields / FIELDS_OF_A_REQUEST)
  return Admission.admit(call) or Answer.reply(call, 'ADMITTED', Answer.head(call))
end
