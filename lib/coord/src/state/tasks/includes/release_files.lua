-- The body of release_files_of(). Needs: release_terms.
local paths, is_everything, is_abandoned, message = {}, false, file_mode == 'ABANDON', ''
local release_name, verdict_of = team_key .. '/' .. id .. string.format(' %.0f', task.token), {}
for index = 1, #verdicts, 2 do
  verdict_of[verdicts[index]] = verdicts[index + 1]
end
local function ended(answer)
  return told({ 'FILES', now, answer })
end
local denied = admit_files(#task.files)
if denied then
  return denied
end
-- Locks of the task that another agent of the caller's handle had are the caller's.
if not locks_of(id, task) then
  return { 'TOO_MUCH', now, 'LOCKS' }
end
-- A file that the caller has claimed again since, with another task, stays that task's.
for _, path in ipairs(task.files) do
  local is_of_another = false
  for _, entry in ipairs(entries_of[path]) do
    is_of_another = is_of_another or (entry.branch == request.branch and is_own(entry) and entry.task ~= nil and entry.task ~= task_name(id))
  end
  paths[#paths + 1] = not is_of_another and path or nil
end
-- @include locks/release_files
return nil, released_answer, unpushed
