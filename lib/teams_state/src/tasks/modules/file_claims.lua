-- The claim of a task with its files. The request has `file_mode`: absent to leave them alone, NO_HEAD if it has no head of a working copy,
-- or HEAD to claim them; with HEAD `gate` (locks/gate_request), `policy` (locks/policy), with the `files` that were judged by it,
-- `agent_head`, `repository`, `paths_of_request`: how many paths cost one request, and `judged_paths`, which the gate has judged.
local Answer = require('answer')
local Blocking = require('locks/blocking')
local ClaimFiles = require('locks/claim_files')
local FileLocks = require('tasks/file_locks')
local FileTerms = require('tasks/file_terms')
local HoldsAll = require('locks/holds_all')
local Policy = require('locks/policy')
local Request = require('admission/request')
local Suggested = require('teams/suggested')
local Task = require('tasks/task')
local Team = require('teams/team')

local FileClaims = {}

function FileClaims.begin(call)
  local policy = call.request.policy
  Policy.begin(call, policy and policy.files or {})
  call.interface_of = Blocking.interfaces(call.policy)
end

-- Claims the files of `task` for writing, for `seconds`; `surveyed`: what Survey.of() returns for them. Nil and the answer of
-- ClaimFiles.claim() if they are granted, or the reply to the whole request: FILES, `id` of the task, `outcome` of the claim: CONFLICT,
-- STALE or REFUSED (by intents), and `files`: its answer, with `suggested`: what Suggested.tasks() returns; then nothing is claimed.
function FileClaims.claim(call, id, task, seconds, surveyed)
  local paths = Policy.without_ignored(call, task.files)
  local own = surveyed[4] or {}
  -- A renewal leaves the declaration about the interface: an edit may have changed it since.
  local function interface_of_new(path)
    return own[path] and own[path].status == 'WRITING' and '' or call.interface_of(path)
  end
  local denial = FileTerms.admit_files(call, #paths, function()
    return HoldsAll.of(call, paths)
  end)
  if denial then
    return denial
  end
  call.gate.cited = call.gate.cited ~= '' and call.gate.cited or task.intent_id or ''
  call.gate.files = paths
  if table.concat(call.request.judged_paths or {}, '\n') ~= table.concat(paths, '\n') then
    call.gate.judged.intent = nil
  end
  local reply, outcome, answer = ClaimFiles.claim(call, {
    paths = paths,
    wanted = 'WRITING',
    interface_of = interface_of_new,
    surveyed = surveyed,
    agent_head = call.request.agent_head,
    message = id .. ': ' .. task.title,
    ttl = seconds,
    repository = call.request.repository,
    lookups = '',
    task = FileLocks.task_name(call, id),
  })
  if reply then
    return reply
  elseif outcome ~= 'CLAIMED' then
    local teams, task_name = { { team = call.team_key, handle = call.member.handle } }, FileLocks.task_name(call, id)
    if outcome == 'CONFLICT' then
      answer.suggested = Answer.some(Suggested.tasks(call, teams, call.policy.neighbors, interface_of_new, task_name))
    end
    return Team.reply(call, 'FILES', { id = id, outcome = outcome, files = answer })
  end
  task.locked = call.request.branch
  return nil, answer
end

-- The caller's other task with which one of these files is locked, and that file; or nil.
function FileClaims.other_task_of(call, id, paths)
  for _, path in ipairs(paths) do
    -- Entries of files that the policy ignores may not have been read; no claim of a task locks them.
    for _, entry in ipairs(call.entries_of[path] or {}) do
      local other_team, other = string.match(Request.is_own(call, entry) and entry.task or '', '^(.-)/(.+)$')
      if other and entry.task ~= FileLocks.task_name(call, id) then
        local task = other_team == call.team_key and Task.load_task(call, other)
        if other_team ~= call.team_key or (task and Task.is_owned_by(call, task, call.member)) then
          return entry.task, path
        end
      end
    end
  end
end

return FileClaims
