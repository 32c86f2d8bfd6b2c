-- show_task: one task, whole.
-- KEYS: those of admission/request, of a team (`team_keys.rs`)
-- ARGV: those of admission/request and teams/team, then 4 id
-- Returns { SHOWN, now, the task as View.whole_view() has it } or { REFUSED, now, code, words } or one of the denials of Admission.admit()
local Admission = require('admission/admission')
local Task = require('tasks/task')
local Team = require('teams/team')
local View = require('tasks/view')

return function(KEYS, ARGV)
  local call = {}
  local id = ARGV[4]
  Admission.begin(call, KEYS, ARGV)
  Team.begin(call, ARGV)

  local denial = Admission.admit(call) or Team.load_team(call)
  if denial then
    return denial
  end
  local task = Task.load_task(call, id)
  if not task then
    return Team.refuse(call, 'NO_TASK', id, call.team.name)
  end
  return Team.told(call, { 'SHOWN', call.now, View.whole_view(call, id, task) })
end
