-- assign_task: keeps a task for a member for ten minutes, and tells it.
-- KEYS: those of admission, then those of teams/team
-- ARGV: those of admission/request and teams/team, then 19 id, 20 handle, '' for nobody
-- Returns { ASSIGNED, now, the task as whole_view() has it } or { REFUSED, now, code, words } or one of the denials of admit()
local id, handle = ARGV[19], ARGV[20]
-- @include admission/admission
-- @include teams/team
-- @include tasks/renewals
-- @include tasks/view
-- @include mail/deliver

local denial = admit() or enter(true)
if denial then
  return denial
end
local RESERVED_FOR_MS, MOST_ASSIGNED, MOST_ASSIGNED_OF_LOGIN = 600000, 200, 50
local task = current_task(id)
if not task then
  return refuse('NO_TASK', id, team.name)
end
if not is_leader() and not is_member(member, task.by, task.by_login) then
  return refuse('NOT_CREATOR', task.by, team.leader)
end
if task.status == 'completed' then
  return refuse('TASK_UNAVAILABLE', id, task.status)
end
if task.owner then
  return refuse('TASK_TAKEN', id, task.status, task.owner, task.expires)
end
local assignee = handle ~= '' and load_member(handle)
if handle ~= '' and (not assignee or assignee.ended) then
  return refuse('NO_RECIPIENT', handle, team.name)
end
if assignee then
  local kept, own = {}, 0
  for other in string.gmatch(assignee.assigned, '%S+') do
    local found = load_task(other)
    if found and found.status ~= 'completed' and found.assignee == assignee.handle then
      kept[#kept + 1] = other
      own = own + (found.by_login == member.login and 1 or 0)
    end
  end
  assignee.assigned = table.concat(kept, ' ')
  if #kept >= MOST_ASSIGNED then
    return refuse('TOO_MANY', 'assigned tasks', MOST_ASSIGNED)
  elseif own >= MOST_ASSIGNED_OF_LOGIN and not is_leader() and assignee.login ~= member.login then
    return refuse('TOO_MANY', 'tasks of one login that does not lead the team, assigned to one member', MOST_ASSIGNED_OF_LOGIN)
  end
  local sent, full, what, most = deliver({ assignee.handle }, {
    from = member.handle, login = member.login, to = assignee.handle, kind = 'task_assignment', task_id = id, message = task.title,
  }, MOST_UNREAD)
  if not sent then
    return refuse_message(full, what, most)
  end
  assignee.assigned = with_word(assignee.assigned, id)
  save_member(assignee)
end
task.assignee, task.reserved = assignee and assignee.handle or nil, assignee and now_ms + RESERVED_FOR_MS or nil
task.updated = now_ms
save_task(id, task)
save_offers()
emit_task('task_updated', id, task, assignee and assignee.handle or member.handle, member.login)
renew_claims()
return told({ 'ASSIGNED', now, whole_view(id, task) })
