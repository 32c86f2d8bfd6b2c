-- release_task: releases a claimed task; it stays in progress, without an owner.
-- KEYS: those of admission/request, of a team (`team_keys.rs`); with files also those of locks
-- The request has the fields of teams/team and tasks/release_terms, `task_id`, `token` of the claim, absent for any, and `note`, absent
-- for none.
-- Returns Team.reply(): RELEASED, `task`: what View.whole_view() returns, `kept`: files whose locks stay the caller's, absent for none, and,
-- if files were to be released, `files`: the answer of ReleaseFiles.release(); FILES, of ReleaseTerms.release(): nothing changed; or
-- REFUSED; or one of the denials of Admission.admit()
local Adjacency = require('builds/adjacency')
local Admission = require('admission/admission')
local Entries = require('locks/entries')
local Answer = require('answer')
local FileLocks = require('tasks/file_locks')
local FileTerms = require('tasks/file_terms')
local Held = require('locks/held')
local Notes = require('tasks/notes')
local OwnClaim = require('tasks/own_claim')
local ReleaseTerms = require('tasks/release_terms')
local Releases = require('locks/releases')
local Renewals = require('tasks/renewals')
local Task = require('tasks/task')
local TaskBytes = require('tasks/bytes')
local Team = require('teams/team')
local TeamBytes = require('teams/bytes')
local View = require('tasks/view')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)
  Entries.begin(call)
  Held.begin(call)
  FileTerms.begin(call)
  Releases.begin(call)
  Adjacency.begin(call)

  local denial = Admission.admit(call) or Team.enter(call, true)
  if denial then
    return denial
  end
  local id, token, note = call.request.task_id, call.request.token, call.request.note
  local task = Task.current_task(call, id)
  if not task then
    return Team.refuse(call, 'NO_TASK', { id = id, team = call.team.name })
  end
  local refusal = task.status ~= 'in_progress' and Team.refuse(call, 'NOT_OWNER', { id = id, owner = task.owner, status = task.status })
    or OwnClaim.refuse_unless_own(call, id, task, token, false)
  if refusal then
    return refusal
  end
  if note and not Notes.has_room_for_note(call, id, task, note) then
    return Team.refuse(call, 'NOTES_FULL', { id = id })
  end
  refusal = note and TaskBytes.refuse_bytes(call, #note + TaskBytes.BYTES_OF_NOTE)
  if refusal then
    return refusal
  end
  local files, kept = nil, {}
  if task.locked and task.files and (call.request.file_mode == 'HEAD' or call.request.file_mode == 'ABANDON') then
    if task.locked ~= call.request.branch then
      return Team.refuse(call, 'OTHER_BRANCH', { id = id, branch = task.locked, sent = call.request.branch })
    end
    local unpushed
    refusal, files, unpushed = ReleaseTerms.release(call, id, task, true)
    if refusal then
      return refusal
    end
    for index, file in ipairs(unpushed) do
      kept[index] = file.path
    end
  else
    kept = FileLocks.keep_locks(call, id, task)
  end
  if note then
    Notes.add_note(call, id, note, call.member)
    TaskBytes.add_bytes(call, task, #note + TaskBytes.BYTES_OF_NOTE)
    TeamBytes.count_bytes(call, 'bytes', call.request.user_id, #note + TaskBytes.BYTES_OF_NOTE)
  end
  task.locked = nil
  Task.end_claim(call, id, task, 'RELEASED')
  OwnClaim.forget_claim(call, id)
  Renewals.renew(call)
  return Team.reply(call, 'RELEASED', { task = View.whole_view(call, id, task), kept = Answer.some(kept), files = files })
end
