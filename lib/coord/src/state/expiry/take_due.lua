-- take_due: leases the repositories in which a lock may have expired to one sweep. Each becomes `sweeping:REPOSITORY` until
-- settle_due; if the sweep dies, it is due again when its lease ends. A claim in the meantime marks REPOSITORY itself, so
-- that settle_due cannot lose it.
-- KEYS: 1 due
-- ARGV: 1 maximum repositories to take, 2 seconds of a lease
-- Returns { TAKEN, now, list of { repository, '1' if this is its last check } }
local Chunks = require('chunks')
local Clock = require('clock')

return function(KEYS, ARGV)
  local call = {}
  local due_key = KEYS[1]
  local most, turn = ARGV[1], tonumber(ARGV[2])
  Clock.begin(call)

  local members = redis.call('ZRANGEBYSCORE', due_key, '-inf', call.now, 'LIMIT', 0, most)
  local taken, turns, is_last_look, order = {}, {}, {}, {}
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
    taken[index] = { repository, is_last_look[repository] and '1' or '0' }
    turns[#turns + 1] = call.now + turn
    turns[#turns + 1] = 'sweeping:' .. repository
  end
  Chunks.call_in_chunks('ZREM', due_key, members)
  Chunks.call_in_chunks('ZADD', due_key, turns)
  return { 'TAKEN', call.now, taken }
end
