-- What a claim of a task with its files needs.
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

function FileClaims.begin(call, KEYS, ARGV)
  call.neighbor_policy = ARGV[call.gate_at + 11]
  call.policy = {
    digest = ARGV[call.gate_at + 12], kinds = {}, lines = ARGV[call.gate_at + 13], names = ARGV[call.gate_at + 14], unjudged = {},
    interface = ARGV[call.gate_at + 15] or '', patience = ARGV[call.gate_at + 16],
  }
  call.agent_head, call.repository, call.paths_of_request = unpack(ARGV, call.gate_at + 17, call.gate_at + 19)
  call.judged_paths = { unpack(ARGV, call.gate_at + 20) }
  call.interface_of = Blocking.read_interface(call.policy.interface)
  for letter, path in string.gmatch(call.policy.lines or '', '(.)([^\n]*)\n') do
    call.policy.kinds[path] = letter
  end
end

-- Claims the files of `task` for writing, for `seconds`; `surveyed`: what survey() gives of them. Nil and the outcome of claim_files() where
-- they are granted, or the answer of the whole request.
function FileClaims.claim(call, id, task, seconds, surveyed)
  local paths = Policy.kept(call, task.files)
  local held = surveyed[4] or {}
  -- A renewal leaves what was said of the interface: edits may have changed it since.
  local function interface_of_new(path)
    return held[path] and held[path].status == 'WRITING' and '' or call.interface_of(path)
  end
  local denied = FileTerms.admit_files(call, #paths, function()
    return HoldsAll.of(call, paths)
  end)
  if denied then
    return denied
  end
  call.gate.cited = call.gate.cited ~= '' and call.gate.cited or task.intent_id or ''
  call.gate.files = paths
  if table.concat(call.judged_paths, '\n') ~= table.concat(paths, '\n') then
    call.gate.judged.intent = ''
  end
  local answer, outcome = ClaimFiles.claim(call, {
    paths = paths, wanted = 'WRITING', neighbor_policy = call.neighbor_policy, interface_of = interface_of_new, surveyed = surveyed,
    agent_head = call.agent_head, message = id .. ': ' .. task.title, ttl = seconds, repository = call.repository, lookups = '', task = FileLocks.task_name(call, id),
  })
  if answer then
    return answer
  elseif outcome[1] ~= 'CLAIMED' then
    local me = { { call.team_key, call.member.handle } }
    local instead = outcome[1] == 'CONFLICT' and Suggested.tasks(call, me, call.neighbor_policy, interface_of_new, FileLocks.task_name(call, id)) or {}
    return Team.told(call, { 'FILES', call.now, outcome, instead, id })
  end
  task.locked = call.request.branch
  return nil, outcome
end

-- The caller's task that is out with one of these files, and that file; or nil.
function FileClaims.other_task_of(call, id, paths)
  for _, path in ipairs(paths) do
    for _, entry in ipairs(call.entries_of[path]) do
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
