-- recall_identities: reads the verdicts on credentials that were verified before in one repository. It writes nothing.
-- KEYS: identities. It has no ARGV.
-- Returns { RECALLED, now, answer }: `verdicts`, each with the `place` of its key, from 1 on, the `verdict` as JSON, and `left`: seconds
--           until it expires
local Answer = require('answer')
local Clock = require('clock')

return function(KEYS)
  local call = {}
  Clock.begin(call)

  local verdicts = {}
  for position, identity in ipairs(KEYS) do
    local verdict = redis.call('GET', identity)
    if verdict then
      verdicts[#verdicts + 1] = { place = position, verdict = verdict, left = redis.call('TTL', identity) }
    end
  end
  return Answer.reply(call, 'RECALLED', { verdicts = Answer.some(verdicts) })
end
