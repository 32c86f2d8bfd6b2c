-- show_task: reads one task with its texts.
-- KEYS: those of admission/request, of a team (`team_keys.rs`)
-- The request has the fields of teams/team, and `task_id`.
-- Returns Team.reply(): SHOWN, what View.whole_view() returns, or REFUSED; or one of the denials of Admission.admit()
local Admission = require('admission/admission')
local Task = require('tasks/task')
local Team = require('teams/team')
local View = require('tasks/view')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)

  local denial = Admission.admit(call) or Team.load_team(call)
  if denial then
    return denial
  end
  local id = call.request.task_id
  local task = Task.load_task(call, id)
  if not task then
    return Team.refuse(call, 'NO_TASK', { id = id, team = call.team.name })
  end
  return Team.reply(call, 'SHOWN', View.whole_view(call, id, task))
end
