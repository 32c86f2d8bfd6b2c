-- claim_task: gives one task to the caller for some time, with its files; a repeated claim renews.
-- KEYS: those of admission, with file_mode HEAD those of admission/request; then those of teams/team
-- ARGV: those of admission/request and teams/team, then 19 id, 20 seconds, 21 file_mode of tasks/file_terms, and with HEAD 22... those
--       of tasks/file_claims
-- Returns { CLAIMED, now, the task as whole_view() has it } or { RENEWED, now, the same }; or, with files that were claimed or
--           renewed by locks/claim_files, { CLAIMED_FILES or RENEWED_FILES, now, the same, what claimed() gives }
--      or { FILES, now, what claimed() gives, what suggested() gives, id }: the files are refused: CONFLICT, STALE or REFUSED (by intents);
--           nothing claimed
--      or an outcome of a claim of files (locks/claim.lua) that is neither; the files are those of the task; nothing claimed
--      or { MARK_FIRST, now }: it would be claimed after mark_due
--      or { REFUSED, now, code, words } or one of the denials of admit()
local id, seconds, file_mode, gate_at = ARGV[19], tonumber(ARGV[20]), ARGV[21], 22
-- @include admission/admission
-- @include teams/team
-- @include tasks/hold
-- @include tasks/view
-- @include tasks/file_claims

local denial = admit(function()
  local stored = load_task(id)
  return stored and stored.files and holds_all(stored.files) or false
end) or enter(true)
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
local is_mine = task.owner and is_owned_by(task, member)
if not is_mine then
  refusal = refusal or refuse_task(id, task)
  if refusal then
    return refusal
  end
end
local has_files = task.files ~= nil and file_mode ~= ''
if has_files and file_mode == 'NO_HEAD' and not is_mine then
  return refuse('HEAD_REQUIRED', id, 'agent_head')
end
local takes_files, files = has_files and file_mode == 'HEAD', nil
if takes_files then
  local branch = is_mine and task.locked or task.branch
  if branch and branch ~= request.branch then
    return refuse('OTHER_BRANCH', id, branch, request.branch)
  end
  if not policy.has_judged(task.files) then
    return policy.question(task.files)
  end
  -- Locks of the task that another agent of the caller's handle had are the caller's.
  surveyed = locks_of(id, task) and { survey(policy.kept(task.files), 'WRITING', neighbor_policy, interface_of) } or {}
  if not surveyed[1] then
    return { 'TOO_MUCH', now, surveyed[2] or 'LOCKS' }
  end
  local other, shared = other_task_of(id, task.files)
  if other then
    return refuse('FILES_CLAIMED', id, other, shared)
  end
  refusal, files = claim_files_of(id, task)
  if refusal then
    return refusal
  end
else
  if not is_mine or now_ms + seconds * 1000 < task.expires then
    if lacks_mark(seconds) then
      return { 'MARK_FIRST', now }
    end
    note_mark(seconds)
  end
  task.locked = is_mine and task.locked or nil
end
if is_mine then
  local renewed = {}
  if not takes_files and not renew_locks(id, task, now_ms + seconds * 1000, renewed) then
    return { 'TOO_MUCH', now, 'LOCKS' }
  end
  task.seconds = seconds
  extend(id, task)
  save_task(id, task)
  -- The time may be shorter than before; the other claims are not read for it.
  renew_by(task)
  save_member(member)
  save_renewed(renewed)
end
renew_claims()
if not is_mine then
  hold(id, task, seconds)
end
return told({
  files and (is_mine and 'RENEWED_FILES' or 'CLAIMED_FILES') or (is_mine and 'RENEWED' or 'CLAIMED'), now, whole_view(id, task), files,
})
