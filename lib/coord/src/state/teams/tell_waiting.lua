-- tell_waiting: what waits for a caller in its teams.
-- KEYS: 1 members of teams
-- ARGV: 1 user id, 2 agent id or ''
-- Returns { TOLD, now, what Waiting.of_caller() tells }
local Clock = require('clock')
local Waiting = require('teams/waiting')

return function(KEYS, ARGV)
  local call = {}
  call.keys = { members = KEYS[1] }
  call.request = { user_id = ARGV[1], agent_id = ARGV[2] }
  Clock.begin(call)

  return { 'TOLD', call.now, Waiting.of_caller(call) }
end
