-- claim_task: gives one task to the caller for some time; a repeated claim renews.
-- KEYS: those of admission, then those of teams/team
-- ARGV: those of admission/request and teams/team, then 19 id, 20 seconds
-- Returns { CLAIMED, now, the task as whole_view() has it } or { RENEWED, now, the same }
--      or { REFUSED, now, code, words } or one of the denials of admit()
local id, seconds = ARGV[19], tonumber(ARGV[20])
-- @include admission/admission
-- @include teams/team
-- @include tasks/hold
-- @include tasks/view

local denial = admit() or enter(true)
if denial then
  return denial
end
local refusal = may_claim()
local task = current_task(id)
if not task then
  return refuse('NO_TASK', id, team.name)
end
if task.status == 'completed' then
  return refuse('TASK_UNAVAILABLE', id, task.status)
end
if task.owner and is_owned_by(task, member) then
  task.seconds = seconds
  extend(id, task)
  save_task(id, task)
  member.renew_at = nil
  renew_claims()
  return { 'RENEWED', now, whole_view(id, task) }
end
if refusal then
  return refusal
end
if task.owner then
  return refuse('TASK_TAKEN', id, task.status, task.owner, task.expires)
end
if is_held_back(task) then
  return refuse('HELD_BACK', id, task.lapses, task.by, team.leader)
end
if is_reserved(task) then
  return refuse('RESERVED', id, task.assignee, task.reserved)
end
if team.strict and redis.call('HEXISTS', keys.unmet, id) == 1 then
  local ids, open = ends_of('d', id), {}
  local completed = statuses(ids)
  for _, other in ipairs(ids) do
    open[#open + 1] = not completed[other] and other or nil
  end
  return refuse('DEPENDENCIES_UNMET', id, table.concat(open, ', '))
end
renew_claims()
hold(id, task, seconds)
return { 'CLAIMED', now, whole_view(id, task) }
