-- delete_task: deletes a task and all its edges.
-- KEYS: those of admission/request, of a team (`team_keys.rs`)
-- The request has the fields of teams/team, `task_id`, and `is_unlinked`: delete it even if others depend on it.
-- Returns Team.reply(): DELETED, what Cascade.unblock() returns, or REFUSED; or one of the denials of Admission.admit()
local Admission = require('admission/admission')
local Cascade = require('tasks/cascade')
local Counts = require('tasks/counts')
local Deliver = require('mail/deliver')
local Drop = require('tasks/drop')
local Edges = require('tasks/edges')
local Entries = require('locks/entries')
local Held = require('locks/held')
local Offers = require('tasks/offers')
local Renewals = require('tasks/renewals')
local Task = require('tasks/task')
local Team = require('teams/team')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)
  Entries.begin(call)
  Held.begin(call)
  Deliver.begin(call)

  local denial = Admission.admit(call) or Team.enter(call, true)
  if denial then
    return denial
  end
  local id = call.request.task_id
  local task = Task.current_task(call, id)
  if not task then
    return Team.refuse(call, 'NO_TASK', { id = id, team = call.team.name })
  end
  local is_completed, dependents = task.status == 'completed', Edges.ends_of(call, 'b', id)
  if not is_completed and #dependents > 0 and not call.request.is_unlinked then
    -- Edges of earlier versions may be from completed tasks.
    local completed = Edges.statuses(call, dependents)
    for _, other in ipairs(dependents) do
      if not completed[other] then
        return Team.refuse(call, 'DEPENDED_ON', { id = id, other = other })
      end
    end
  end
  if not is_completed and task.owner and not Task.is_owned_by(call, task, call.member) and not Team.is_leader(call) then
    return Team.refuse(call, 'TASK_TAKEN', { id = id, status = task.status, owner = task.owner, expires = task.expires })
  end
  Renewals.renew(call)
  Drop.drop_task(call, id)
  Counts.count_tasks(call, is_completed and 0 or -1, is_completed and -1 or 0)
  if not is_completed then
    Counts.close_task(call, task)
  end
  call.member.claims = Task.without_word(call.member.claims, id)
  Team.save_member(call, call.member)
  Task.emit_task(call, 'task_deleted', id, task, call.member.handle, call.member.login)
  local unblocked = { count = 0 }
  if not is_completed then
    unblocked = Cascade.unblock(call, id, dependents, 'Dependencies are gone with task ' .. id .. ', which was deleted')
  end
  if not is_completed and task.owner and not Task.is_owned_by(call, task, call.member) then
    local text = 'Task ' .. id .. ', which you had, was deleted by ' .. call.member.handle .. ': ' .. task.title
    if not Cascade.notify_member(call, task.owner, id, text) then
      unblocked.not_told = unblocked.not_told or {}
      table.insert(unblocked.not_told, task.owner)
    end
  end
  Offers.save(call)
  return Team.reply(call, 'DELETED', unblocked)
end
