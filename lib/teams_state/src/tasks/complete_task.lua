-- complete_task: completes a task that the caller has claimed, and unblocks its dependents.
-- KEYS: those of admission/request, of a team (`team_keys.rs`); with files also those of locks
-- The request has the fields of teams/team and tasks/release_terms, `task_id`, `token` of the claim, absent for any, and `result`, absent
-- for none.
-- Returns Team.reply(): COMPLETED, `task`: what View.whole_view() returns, `had_expired`: its claim had expired, `unblocked`: what
-- Cascade.unblock() returns, and, if files were released, `files`: the answer of ReleaseFiles.release(); COMPLETED_BEFORE: by the caller,
-- `task`, and `is_other_result`: the result of the request differs; FILES, of ReleaseTerms.release(): the files stay locked, and nothing
-- changed; or REFUSED; or one of the denials of Admission.admit()
local Adjacency = require('builds/adjacency')
local Admission = require('admission/admission')
local Cascade = require('tasks/cascade')
local Counts = require('tasks/counts')
local Deliver = require('mail/deliver')
local Drop = require('tasks/drop')
local Edges = require('tasks/edges')
local Entries = require('locks/entries')
local FileTerms = require('tasks/file_terms')
local Held = require('locks/held')
local Offers = require('tasks/offers')
local OwnClaim = require('tasks/own_claim')
local ReleaseTerms = require('tasks/release_terms')
local Releases = require('locks/releases')
local Renewals = require('tasks/renewals')
local Task = require('tasks/task')
local TaskBytes = require('tasks/bytes')
local Team = require('teams/team')
local TeamBytes = require('teams/bytes')
local View = require('tasks/view')

-- The reply about a task that is completed already.
local function completed_before(call, id, task)
  local token, result = call.request.token, call.request.result
  local refusal = OwnClaim.refuse_unless_completed_by(call, id, task, token)
  if refusal then
    return refusal
  end
  local is_other_result = result and redis.call('HGET', call.keys.texts, id .. ' result') ~= result
  return Team.reply(call, 'COMPLETED_BEFORE', { task = View.whole_view(call, id, task), is_other_result = is_other_result })
end

-- Releases the files that were claimed with the task, unless the request leaves them alone. Nil and the answer of ReleaseFiles.release(), or
-- the reply to the whole request.
local function release_files(call, id, task)
  if not (task.locked and task.files and call.request.file_mode) then
    return nil
  end
  if call.request.file_mode == 'NO_HEAD' then
    return Team.refuse(call, 'HEAD_REQUIRED', { id = id, field = 'new_repo_head' })
  end
  if task.locked ~= call.request.branch then
    return Team.refuse(call, 'OTHER_BRANCH', { id = id, branch = task.locked, sent = call.request.branch })
  end
  return ReleaseTerms.release(call, id, task, false)
end

-- Writes that the caller has completed the task.
local function write_completion(call, id, task)
  local result = call.request.result
  task.owner, task.login, task.status = call.member.handle, call.member.login, 'completed'
  task.completed, task.updated, task.expires, task.ended, task.locked = call.now_ms, call.now_ms, nil, nil, nil
  redis.call('ZREM', call.keys.leases, id)
  redis.call('ZREM', call.keys.ready, id)
  if Task.is_held_back(task) then
    redis.call('ZREM', call.keys.edges, 'h ' .. id)
  end
  if result then
    TaskBytes.add_bytes(call, task, #result)
    TeamBytes.count_bytes(call, 'bytes', call.request.user_id, #result)
    redis.call('HSET', call.keys.texts, id .. ' result', result, id .. ' author', call.member.handle .. ' ' .. call.member.login)
  end
  Task.save_task(call, id, task)
  OwnClaim.forget_claim(call, id)
  Edges.mark_completed(call, id)
  redis.call('ZADD', call.keys.done, string.format('%.0f', call.now_ms), id)
  Counts.count_tasks(call, -1, 1)
  Counts.close_task(call, task)
end

-- The newest 10,000 completed tasks stay.
local function drop_oldest(call)
  local MAX_DONE = 10000
  if redis.call('ZCARD', call.keys.done) > MAX_DONE then
    local oldest = redis.call('ZRANGE', call.keys.done, 0, 0)[1]
    Drop.drop_task(call, oldest)
    Counts.count_tasks(call, 0, -1)
  end
end

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)
  Deliver.begin(call)
  Entries.begin(call)
  Held.begin(call)
  FileTerms.begin(call)
  Releases.begin(call)
  Adjacency.begin(call)

  local denial = Admission.admit(call) or Team.enter(call, true)
  if denial then
    return denial
  end
  local id = call.request.task_id
  local task = Task.current_task(call, id)
  if not task then
    return Team.refuse(call, 'NO_TASK', { id = id, team = call.team.name })
  end
  if task.status == 'pending' then
    return Team.refuse(call, 'INVALID_TRANSITION', { from = task.status, to = 'completed' })
  elseif task.status == 'completed' then
    return completed_before(call, id, task)
  end
  local refusal = OwnClaim.refuse_unless_own(call, id, task, call.request.token, true)
    or TaskBytes.refuse_bytes(call, #(call.request.result or ''))
  if refusal then
    return refusal
  end
  local reply, files = release_files(call, id, task)
  if reply then
    return reply
  end
  local had_expired = task.owner == nil
  write_completion(call, id, task)
  Task.emit_task(call, 'task_completed', id, task, call.member.handle, call.member.login)
  local unblocked = Cascade.unblock(call, id, (Edges.ends_of(call, 'b', id)), 'Dependencies are met')
  drop_oldest(call)
  Offers.save(call)
  Renewals.renew(call)
  return Team.reply(call, 'COMPLETED', {
    task = View.whole_view(call, id, task),
    had_expired = had_expired,
    unblocked = unblocked,
    files = files,
  })
end
