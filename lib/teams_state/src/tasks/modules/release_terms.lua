-- The end of a claim of a task with its files. The request has `file_mode`: absent to leave them alone, NO_HEAD if it has no head of a
-- working copy, HEAD or ABANDON; with HEAD or ABANDON `new_head`, absent for none, `agent_head`, `most_importers`, `most_importer_bytes`,
-- `can_ask`: a source can be asked, `paths_of_request`: how many paths cost one request, and `verdicts` of the source: file -> claim head, a
-- blank and a verdict.
local Answer = require('answer')
local FileLocks = require('tasks/file_locks')
local FileTerms = require('tasks/file_terms')
local ReleaseFiles = require('locks/release_files')
local Request = require('admission/request')
local Team = require('teams/team')

local ReleaseTerms = {}

-- Releases the files of `task`, as locks/release_files does: nil, its answer and the files that stay locked, or the reply to the whole
-- request: FILES, `outcome` of the release, which was not made, and `files`: its answer.
function ReleaseTerms.release(call, id, task, is_partial)
  local request, paths = call.request, {}
  local denial = FileTerms.admit_files(call, #task.files)
  if denial then
    return denial
  end
  -- Locks of the task that an earlier agent of the caller's handle had become the caller's.
  if not FileLocks.locks_of(call, id, task) then
    return Answer.too_much(call, 'LOCKS')
  end
  -- A file that the caller has since claimed with another task belongs to that task.
  for _, path in ipairs(task.files) do
    local is_of_other_task = false
    for _, entry in ipairs(call.entries_of[path]) do
      is_of_other_task = is_of_other_task
        or (
          entry.branch == call.request.branch
          and Request.is_own(call, entry)
          and entry.task ~= nil
          and entry.task ~= FileLocks.task_name(call, id)
        )
    end
    paths[#paths + 1] = not is_of_other_task and path or nil
  end
  local reply, outcome, answer, unpushed = ReleaseFiles.release(call, {
    paths = paths,
    name = call.team_key .. '/' .. id .. string.format(' %.0f', task.token),
    new_head = request.new_head,
    agent_head = request.agent_head,
    is_abandoned = request.file_mode == 'ABANDON',
    message = '',
    most_importers = request.most_importers,
    most_importer_bytes = request.most_importer_bytes,
    has_source = request.can_ask,
    verdict_of = request.verdicts or {},
    is_partial = is_partial,
  })
  if reply then
    return reply
  elseif not unpushed then
    return Team.reply(call, 'FILES', { outcome = outcome, files = answer })
  end
  return nil, answer, unpushed
end

return ReleaseTerms
