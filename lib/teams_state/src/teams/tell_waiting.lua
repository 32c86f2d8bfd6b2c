-- tell_waiting: reads pending messages and questions for a caller in its teams.
-- KEYS: `members` of teams
-- The request has `user_id`, and `agent_id`, '' for none.
-- Returns { TOLD, now, answer }: JSON with `waiting`: what Waiting.of_caller() returns, absent for none
local Answer = require('answer')
local Clock = require('clock')
local Request = require('admission/request')
local Waiting = require('teams/waiting')

return function(KEYS, ARGV)
  local call = Request.begin(KEYS, ARGV)
  Clock.begin(call)

  return Answer.reply(call, 'TOLD', { waiting = Answer.some(Waiting.of_caller(call)) })
end
