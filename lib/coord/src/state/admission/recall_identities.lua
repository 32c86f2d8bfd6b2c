-- recall_identities: verdicts on credentials that were verified before in one repository. It writes nothing.
-- KEYS: identities
-- Returns { RECALLED, now, for each of KEYS { verdict as JSON or '', seconds for which it is still kept } }
local Clock = require('clock')

return function(KEYS)
  local call = {}
  local identities = KEYS
  Clock.begin(call)

  local verdicts = {}
  for position, identity in ipairs(identities) do
    local verdict = redis.call('GET', identity)
    verdicts[position] = verdict and { verdict, redis.call('TTL', identity) } or { '', 0 }
  end
  return { 'RECALLED', call.now, verdicts }
end
