-- complete_task: completes a task that the caller has claimed, and frees its dependents.
-- KEYS: those of admission, with file_mode HEAD those of admission/request; then those of teams/team
-- ARGV: those of admission/request and teams/team, then 19 id, 20 token of the claim or '', 21 result or '', 22... those of
--       tasks/release_terms
-- Returns { COMPLETED, now, the task as whole_view() has it, '1' if its lease had expired, number of tasks that became ready, members
--           that were not told because there is no room for it }, and, where files were given back, `released_answer` of locks/release_files
--      or { FILES, now, outcome }: of a release of the files (locks/release.lua) that was not made; nothing changed
--      or { COMPLETED_BEFORE, now, the task as whole_view() has it, '1' if the result of the request is another one }: by the caller
--      or { REFUSED, now, code, words } or one of the denials of admit()
local id, token, result, files_at = ARGV[19], ARGV[20], ARGV[21], 22
-- @include admission/admission
-- @include teams/team
-- @include tasks/own_claim
-- @include tasks/cascade
-- @include tasks/drop
-- @include tasks/counts
-- @include tasks/renewals
-- @include tasks/view
-- @include tasks/release_terms

local denial = admit() or enter(true)
if denial then
  return denial
end
local task = current_task(id)
if not task then
  return refuse('NO_TASK', id, team.name)
end
if task.status == 'pending' then
  return refuse('INVALID_TRANSITION', task.status, 'completed')
end
if task.status == 'completed' then
  local refusal = refuse_unless_completed_by(id, task, token)
  if refusal then
    return refusal
  end
  local is_other = result ~= '' and redis.call('HGET', keys.texts, id .. ' result') ~= result
  return told({ 'COMPLETED_BEFORE', now, whole_view(id, task), is_other and '1' or '0' })
end
local refusal = refuse_unless_own(id, task, token, true)
if refusal then
  return refusal
end
refusal = refuse_bytes(#result)
if refusal then
  return refusal
end
local files
if task.locked and task.files and file_mode ~= '' then
  if file_mode == 'NO_HEAD' then
    return refuse('HEAD_REQUIRED', id, 'new_repo_head')
  end
  if task.locked ~= request.branch then
    return refuse('OTHER_BRANCH', id, task.locked, request.branch)
  end
  refusal, files = release_files_of(id, task, false)
  if refusal then
    return refusal
  end
end
local has_lapsed = task.owner == nil
task.owner, task.login, task.status = member.handle, member.login, 'completed'
task.completed, task.updated, task.expires, task.ended, task.locked = now_ms, now_ms, nil, nil, nil
redis.call('ZREM', keys.leases, id)
redis.call('ZREM', keys.ready, id)
if is_held_back(task) then
  redis.call('ZREM', keys.edges, 'h ' .. id)
end
if result ~= '' then
  add_bytes(task, #result)
  count_bytes('bytes', request.user_id, #result)
  redis.call('HSET', keys.texts, id .. ' result', result, id .. ' author', member.handle .. ' ' .. member.login)
end
save_task(id, task)
forget_claim(id)
mark_completed(id)
redis.call('ZADD', keys.done, string.format('%.0f', now_ms), id)
count_tasks(-1, 1)
close_task(task)
emit_task('task_completed', id, task, member.handle, member.login)
local freed, not_told = unblock(id, (ends_of('b', id)), 'Dependencies are met')

-- The newest 10,000 completed tasks stay.
local MOST_DONE = 10000
if redis.call('ZCARD', keys.done) > MOST_DONE then
  local oldest = redis.call('ZRANGE', keys.done, 0, 0)[1]
  drop_task(oldest)
  count_tasks(0, -1)
end
save_offers()
renew_claims()
return told({ 'COMPLETED', now, whole_view(id, task), has_lapsed and '1' or '0', freed, not_told, files })
