-- The body of release_files_of(). Needs: release_terms.
local paths, is_everything, is_abandoned, message = task.files, false, file_mode == 'ABANDON', ''
local release_name, verdict_of = team_key .. '/' .. id .. string.format(' %.0f', task.token), {}
for index = 1, #verdicts, 2 do
  verdict_of[verdicts[index]] = verdicts[index + 1]
end
local function ended(answer)
  return told({ 'FILES', now, answer })
end
local denied = admit_files(#paths)
if denied then
  return denied
end
-- Locks of the task that another agent of the caller's handle had are the caller's.
if not locks_of(id, task) then
  return { 'TOO_MUCH', now, 'LOCKS' }
end
-- @include locks/release_files
return nil, released_answer, unpushed
