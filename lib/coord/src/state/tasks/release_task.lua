-- release_task: gives a claimed task back; it stays in progress, without an owner.
-- KEYS: those of admission, then those of teams/team
-- ARGV: those of admission/request and teams/team, then 19 id, 20 token of the claim or '', 21 note or ''
-- Returns { RELEASED, now, the task as whole_view() has it } or { REFUSED, now, code, words } or one of the denials of admit()
local id, token, note = ARGV[19], ARGV[20], ARGV[21]
-- @include admission/admission
-- @include teams/team
-- @include tasks/own_claim
-- @include tasks/notes
-- @include tasks/renewals
-- @include tasks/view

local denial = admit() or enter(true)
if denial then
  return denial
end
local task = current_task(id)
if not task then
  return refuse('NO_TASK', id, team.name)
end
local refusal = task.status ~= 'in_progress' and refuse('NOT_OWNER', id, task.owner or '', task.status)
  or refuse_unless_own(id, task, token, false)
if refusal then
  return refusal
end
if note ~= '' and not has_room_for_note(id, note) then
  return refuse('NOTES_FULL', id)
end
if note ~= '' then
  add_note(id, note, member)
end
end_claim(id, task, 'RELEASED')
forget_claim(id)
renew_claims()
return { 'RELEASED', now, whole_view(id, task) }
