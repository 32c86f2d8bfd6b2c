-- delete_task: removes a task and all edges to it.
-- KEYS: those of admission, then those of teams/team
-- ARGV: those of admission/request and teams/team, then 19 id, 20 '1' to remove it even if others depend on it
-- Returns { DELETED, now, number of tasks that became ready, members that were not told because there is no room for it }
--      or { REFUSED, now, code, words } or one of the denials of admit()
local id, is_unlinked = ARGV[19], ARGV[20] == '1'
-- @include admission/admission
-- @include teams/team
-- @include tasks/renewals
-- @include tasks/cascade
-- @include tasks/drop
-- @include tasks/counts

local denial = admit() or enter(true)
if denial then
  return denial
end
local task = current_task(id)
if not task then
  return refuse('NO_TASK', id, team.name)
end
local is_completed, dependents = task.status == 'completed', ends_of('b', id)
if not is_completed and #dependents > 0 and not is_unlinked then
  -- Among the edges of earlier versions there are those of completed tasks.
  local completed = statuses(dependents)
  for _, other in ipairs(dependents) do
    if not completed[other] then
      return refuse('DEPENDED_ON', id, other)
    end
  end
end
if not is_completed and task.owner and not is_owned_by(task, member) and not is_leader() then
  return refuse('TASK_TAKEN', id, task.status, task.owner, task.expires)
end
renew_claims()
drop_task(id)
count_tasks(is_completed and 0 or -1, is_completed and -1 or 0)
if not is_completed then
  close_task(task)
end
member.claims = without_word(member.claims, id)
save_member(member)
emit_task('task_deleted', id, task, member.handle, member.login)
local freed, not_told = 0, {}
if not is_completed then
  freed, not_told = unblock(id, dependents, 'Dependencies are gone with task ' .. id .. ', which was deleted')
end
if not is_completed and task.owner and not is_owned_by(task, member) then
  local text = 'Task ' .. id .. ', which you had, was deleted by ' .. member.handle .. ': ' .. task.title
  if not tell_member(task.owner, id, text) then
    not_told[#not_told + 1] = task.owner
  end
end
save_offers()
return told({ 'DELETED', now, freed, not_told })
