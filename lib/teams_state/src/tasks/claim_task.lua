-- claim_task: claims one task for the caller for some time, with its files; a repeated claim renews.
-- KEYS: those of admission/request, of a team (`team_keys.rs`); with files also those of locks
-- The request has the fields of teams/team and tasks/file_claims, `task_id`, and `seconds` of the claim.
-- Returns Team.reply(): CLAIMED or RENEWED, `task`: what View.whole_view() returns; CLAIMED_FILES or RENEWED_FILES, which also have `files`:
-- the answer of ClaimFiles.claim(); FILES, of FileClaims.claim(): the files are refused; or REFUSED
--      or a different outcome of a claim of files (locks/claim.lua), about the files of the task; nothing claimed
--      or { MARK_FIRST, now }: it would be claimed after mark_due
--      or one of the denials of Admission.admit()
local Adjacency = require('builds/adjacency')
local Admission = require('admission/admission')
local Answer = require('answer')
local DueMark = require('admission/due_mark')
local Entries = require('locks/entries')
local FileClaims = require('tasks/file_claims')
local FileLocks = require('tasks/file_locks')
local FileTerms = require('tasks/file_terms')
local GateRequest = require('locks/gate_request')
local Held = require('locks/held')
local Hold = require('tasks/hold')
local HoldsAll = require('locks/holds_all')
local Policy = require('locks/policy')
local Releases = require('locks/releases')
local Renewals = require('tasks/renewals')
local Survey = require('locks/survey')
local Task = require('tasks/task')
local Team = require('teams/team')
local View = require('tasks/view')

-- Claims the files of the task. Nil and the answer of ClaimFiles.claim(), or the reply to the whole request.
local function claim_files(call, id, task, is_mine)
  local branch = is_mine and task.locked or task.branch
  if branch and branch ~= call.request.branch then
    return Team.refuse(call, 'OTHER_BRANCH', { id = id, branch = branch, sent = call.request.branch })
  end
  if not Policy.has_judged(call, task.files) then
    return Policy.question(call, task.files)
  end
  -- Locks of the task that an earlier agent of the caller's handle had become the caller's.
  local surveyed = FileLocks.locks_of(call, id, task)
      and { Survey.of(call, Policy.without_ignored(call, task.files), 'WRITING', call.policy.neighbors, call.interface_of) }
    or {}
  if not surveyed[1] then
    return Answer.too_much(call, surveyed[2] or 'LOCKS')
  end
  local other, shared = FileClaims.other_task_of(call, id, task.files)
  if other then
    return Team.refuse(call, 'FILES_CLAIMED', { id = id, other = other, file = shared })
  end
  return FileClaims.claim(call, id, task, call.request.seconds, surveyed)
end

-- Prepares a claim that leaves the files alone: nil, or MARK_FIRST.
local function leave_files(call, task, is_mine)
  local seconds = call.request.seconds
  if not is_mine or call.now_ms + seconds * 1000 < task.expires then
    if DueMark.lacks_mark(call, seconds) then
      return { 'MARK_FIRST', call.now }
    end
    DueMark.note_mark(call, seconds)
  end
  task.locked = is_mine and task.locked or nil
end

-- Renews the caller's claim, and its locks unless they were just claimed. False if there are too many locks.
local function renew(call, id, task, takes_files)
  local seconds, renewed = call.request.seconds, {}
  if not takes_files and not FileLocks.renew_locks(call, id, task, call.now_ms + seconds * 1000, renewed) then
    return false
  end
  task.seconds = seconds
  Task.extend(call, id, task)
  Task.save_task(call, id, task)
  -- The time may be shorter than before. That alone moves `renew_at`, without reading the other claims.
  Renewals.renew_by(call, task)
  Team.save_member(call, call.member)
  FileLocks.save_renewed(call, renewed)
  return true
end

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)
  Entries.begin(call)
  Held.begin(call)
  FileTerms.begin(call)
  Adjacency.begin(call)
  Releases.begin(call)
  GateRequest.begin(call)
  FileClaims.begin(call)

  local id, file_mode = call.request.task_id, call.request.file_mode
  local denial = Admission.admit(call, function()
    local stored = Task.load_task(call, id)
    return stored and stored.files and HoldsAll.of(call, stored.files) or false
  end) or Team.enter(call, true)
  if denial then
    return denial
  end
  local refusal = Hold.refuse_claim(call)
  local task = Task.current_task(call, id)
  if not task then
    return Team.refuse(call, 'NO_TASK', { id = id, team = call.team.name })
  end
  if task.status == 'completed' then
    return Team.refuse(call, 'TASK_UNAVAILABLE', { id = id, status = task.status })
  end
  local is_mine = task.owner and Task.is_owned_by(call, task, call.member)
  if not is_mine then
    refusal = refusal or Hold.refuse_task(call, id, task)
    if refusal then
      return refusal
    end
  end
  if task.files and file_mode == 'NO_HEAD' and not is_mine then
    return Team.refuse(call, 'HEAD_REQUIRED', { id = id, field = 'agent_head' })
  end
  local takes_files = task.files and file_mode == 'HEAD'
  local reply, files
  if takes_files then
    reply, files = claim_files(call, id, task, is_mine)
  else
    reply = leave_files(call, task, is_mine)
  end
  if reply then
    return reply
  end
  if is_mine and not renew(call, id, task, takes_files) then
    return Answer.too_much(call, 'LOCKS')
  end
  Renewals.renew(call)
  if not is_mine then
    Hold.hold(call, id, task, call.request.seconds)
  end
  return Team.reply(call, files and (is_mine and 'RENEWED_FILES' or 'CLAIMED_FILES') or (is_mine and 'RENEWED' or 'CLAIMED'), {
    task = View.whole_view(call, id, task),
    files = files,
  })
end
