-- take_due: leases the repositories in which a lock may have expired to one sweep. Each becomes `sweeping:REPOSITORY` until
-- settle_due; if the sweep dies, it is due again when its lease ends. A claim in the meantime marks REPOSITORY itself, so
-- that settle_due cannot lose it.
-- KEYS: `due`
-- ARGV: that of admission/request, with `most`: maximum repositories to take, and `turn`: seconds of a lease
-- Returns { TAKEN, now, answer }: `repositories`, each with `name`, and `is_last_look`: this is its last check
local Answer = require('answer')
local Chunks = require('chunks')
local Clock = require('clock')
local Request = require('admission/request')

return function(KEYS, ARGV)
  local call = Request.read(KEYS, ARGV)
  Clock.begin(call)
  local keys, request = call.keys, call.request

  local members = redis.call('ZRANGEBYSCORE', keys.due, '-inf', call.now, 'LIMIT', 0, request.most)
  local repositories, leases, is_last_look, order = {}, {}, {}, {}
  for _, member in ipairs(members) do
    local state, repository = string.match(member, '^(%a+):(.*)$')
    repository = repository or member
    if is_last_look[repository] == nil then
      order[#order + 1] = repository
      is_last_look[repository] = true
    end
    is_last_look[repository] = is_last_look[repository] and state == 'idle'
  end
  for index, repository in ipairs(order) do
    repositories[index] = { name = repository, is_last_look = is_last_look[repository] }
    leases[#leases + 1] = call.now + request.turn
    leases[#leases + 1] = 'sweeping:' .. repository
  end
  Chunks.call_in_chunks('ZREM', keys.due, members)
  Chunks.call_in_chunks('ZADD', keys.due, leases)
  return Answer.reply(call, 'TAKEN', { repositories = Answer.some(repositories) })
end
