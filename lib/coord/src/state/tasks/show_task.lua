-- show_task: one task, whole.
-- KEYS: those of admission, then those of teams/team
-- ARGV: those of admission/request and teams/team, then 19 id
-- Returns { SHOWN, now, the task as whole_view() has it } or { REFUSED, now, code, words } or one of the denials of admit()
local id = ARGV[19]
-- @include admission/admission
-- @include teams/team
-- @include tasks/view

local denial = admit() or load_team()
if denial then
  return denial
end
local task = load_task(id)
if not task then
  return refuse('NO_TASK', id, team.name)
end
return told({ 'SHOWN', now, whole_view(id, task) })
