-- What the end of a claim says of the files.
local FileLocks = require('tasks/file_locks')
local FileTerms = require('tasks/file_terms')
local ReleaseFiles = require('locks/release_files')
local Request = require('admission/request')
local Team = require('teams/team')

local ReleaseTerms = {}

function ReleaseTerms.begin(call, KEYS, ARGV)
  call.file_mode, call.new_head, call.agent_head, call.most_importers, call.most_importer_bytes, call.can_ask, call.paths_of_request = unpack(ARGV, call.files_at, call.files_at + 6)
  call.verdicts = { unpack(ARGV, call.files_at + 7) }
end

-- Gives back the files of `task`, as locks/release_files does: nil, its outcome and what stays, or the answer of the whole request.
function ReleaseTerms.release(call, id, task, is_partial)
  local paths, verdict_of = {}, {}
  for index = 1, #call.verdicts, 2 do
    verdict_of[call.verdicts[index]] = call.verdicts[index + 1]
  end
  local denied = FileTerms.admit_files(call, #task.files)
  if denied then
    return denied
  end
  -- Locks of the task that another agent of the caller's handle had are the caller's.
  if not FileLocks.locks_of(call, id, task) then
    return { 'TOO_MUCH', call.now, 'LOCKS' }
  end
  -- A file that the caller has claimed again since, with another task, stays that task's.
  for _, path in ipairs(task.files) do
    local is_of_another = false
    for _, entry in ipairs(call.entries_of[path]) do
      is_of_another = is_of_another or (entry.branch == call.request.branch and Request.is_own(call, entry) and entry.task ~= nil and entry.task ~= FileLocks.task_name(call, id))
    end
    paths[#paths + 1] = not is_of_another and path or nil
  end
  local answer, outcome, unpushed = ReleaseFiles.release(call, {
    paths = paths, name = call.team_key .. '/' .. id .. string.format(' %.0f', task.token), new_head = call.new_head, agent_head = call.agent_head,
    is_abandoned = call.file_mode == 'ABANDON', message = '', most_importers = tonumber(call.most_importers),
    most_importer_bytes = tonumber(call.most_importer_bytes), can_ask = call.can_ask == '1', verdict_of = verdict_of, is_partial = is_partial,
  })
  if answer then
    return answer
  elseif not unpushed then
    return Team.told(call, { 'FILES', call.now, outcome })
  end
  return nil, outcome, unpushed
end

return ReleaseTerms
