-- release_task: gives a claimed task back; it stays in progress, without an owner.
-- KEYS: those of admission, with file_mode HEAD or ABANDON those of admission/request; then those of teams/team
-- ARGV: those of admission/request and teams/team, then 19 id, 20 token of the claim or '', 21 note or '', 22... those of
--       tasks/release_terms
-- Returns { RELEASED, now, the task as whole_view() has it, files whose locks stay the caller's }, and, where files were looked at,
--           `released_answer` of locks/release_files
--      or { FILES, now, outcome }: of a release of the files (locks/release.lua) that was not made; nothing changed
--      or { REFUSED, now, code, words } or one of the denials of admit()
local id, token, note, files_at = ARGV[19], ARGV[20], ARGV[21], 22
-- @include admission/admission
-- @include teams/team
-- @include tasks/own_claim
-- @include tasks/notes
-- @include tasks/bytes
-- @include tasks/renewals
-- @include tasks/view
-- @include tasks/release_terms

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
if note ~= '' and not has_room_for_note(id, task, note) then
  return refuse('NOTES_FULL', id)
end
refusal = note ~= '' and refuse_bytes(#note + BYTES_OF_NOTE)
if refusal then
  return refusal
end
local files, kept = nil, {}
if task.locked and task.files and (file_mode == 'HEAD' or file_mode == 'ABANDON') then
  if task.locked ~= request.branch then
    return refuse('OTHER_BRANCH', id, task.locked, request.branch)
  end
  local unpushed
  refusal, files, unpushed = release_files_of(id, task, true)
  if refusal then
    return refusal
  end
  for index, file in ipairs(unpushed) do
    kept[index] = file[1]
  end
else
  kept = keep_locks(id, task)
end
if note ~= '' then
  add_note(id, note, member)
  add_bytes(task, #note + BYTES_OF_NOTE)
  count_bytes('bytes', request.user_id, #note + BYTES_OF_NOTE)
end
task.locked = nil
end_claim(id, task, 'RELEASED')
forget_claim(id)
renew_claims()
return told({ 'RELEASED', now, whole_view(id, task), kept, files })
