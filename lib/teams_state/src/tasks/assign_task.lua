-- assign_task: reserves a task for a member for ten minutes, and notifies it.
-- KEYS: those of admission/request, of a team (`team_keys.rs`)
-- The request has the fields of teams/team, `task_id`, and `to`: a handle, absent for none.
-- Returns Team.reply(): ASSIGNED, what View.whole_view() returns, or REFUSED; or one of the denials of Admission.admit()
local Admission = require('admission/admission')
local Deliver = require('mail/deliver')
local Entries = require('locks/entries')
local Held = require('locks/held')
local Offers = require('tasks/offers')
local Renewals = require('tasks/renewals')
local Task = require('tasks/task')
local Team = require('teams/team')
local View = require('tasks/view')

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
  local id, handle = call.request.task_id, call.request.to
  local RESERVED_FOR_MS, MAX_ASSIGNED, MAX_ASSIGNED_PER_LOGIN = 600000, 200, 50
  local task = Task.current_task(call, id)
  if not task then
    return Team.refuse(call, 'NO_TASK', { id = id, team = call.team.name })
  end
  if not Team.is_leader(call) and not Task.is_member(call.member, task.by, task.by_login) then
    return Team.refuse(call, 'NOT_CREATOR', { creator = task.by, leader = call.team.leader })
  end
  if task.status == 'completed' then
    return Team.refuse(call, 'TASK_UNAVAILABLE', { id = id, status = task.status })
  end
  if task.owner then
    return Team.refuse(call, 'TASK_TAKEN', { id = id, status = task.status, owner = task.owner, expires = task.expires })
  end
  local assignee = handle and Team.load_member(call, handle)
  if handle and (not assignee or assignee.ended) then
    return Team.refuse(call, 'NO_RECIPIENT', { handle = handle, team = call.team.name })
  end
  if assignee then
    local kept, own = {}, 0
    for other in string.gmatch(assignee.assigned, '%S+') do
      local other_task = Task.load_task(call, other)
      if other_task and other_task.status ~= 'completed' and other_task.assignee == assignee.handle then
        kept[#kept + 1] = other
        own = own + (other_task.by_login == call.member.login and 1 or 0)
      end
    end
    assignee.assigned = table.concat(kept, ' ')
    if #kept >= MAX_ASSIGNED then
      return Team.refuse(call, 'TOO_MANY', { what = 'assigned tasks', most = MAX_ASSIGNED })
    elseif own >= MAX_ASSIGNED_PER_LOGIN and not Team.is_leader(call) and assignee.login ~= call.member.login then
      return Team.refuse(call, 'TOO_MANY', {
        what = 'tasks of one login that does not lead the team, assigned to one member',
        most = MAX_ASSIGNED_PER_LOGIN,
      })
    end
    local sequence, full_inbox, limit, most = Deliver.deliver(call, { assignee.handle }, {
      from = call.member.handle,
      login = call.member.login,
      to = assignee.handle,
      kind = 'task_assignment',
      task_id = id,
      message = task.title,
    }, Deliver.MAX_UNREAD)
    if not sequence then
      return Deliver.refuse_message(call, full_inbox, limit, most)
    end
    assignee.assigned = Task.with_word(assignee.assigned, id)
    Team.save_member(call, assignee)
  end
  task.assignee, task.reserved = assignee and assignee.handle or nil, assignee and call.now_ms + RESERVED_FOR_MS or nil
  task.updated = call.now_ms
  Task.save_task(call, id, task)
  Offers.save(call)
  Task.emit_task(call, 'task_updated', id, task, assignee and assignee.handle or call.member.handle, call.member.login)
  Renewals.renew(call)
  return Team.reply(call, 'ASSIGNED', View.whole_view(call, id, task))
end
