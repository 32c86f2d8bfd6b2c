-- Claims of tasks. Needs: team.
-- @include admission/due_mark
-- @include tasks/renewals
-- @include tasks/edges
-- @include locks/tokens

-- The refusal if the caller may claim nothing now, or nil.
local function may_claim()
  local MOST_CLAIMS = 50
  if member.ended then
    return refuse('SHUTTING_DOWN', '', 'approved')
  end
  local me = string.lower(member.handle)
  -- An approval is final, also for who has joined again since.
  local is_asked = shutdown and (shutdown.target == me or shutdown.target == '*')
  local answer = is_asked and shutdown.answers[me]
  local is_free = answer == 'rejected' or (not answer and is_asked and shutdown.is_mild and member.login ~= shutdown.login)
  if is_asked and not is_free then
    return refuse('SHUTTING_DOWN', shutdown.id, shutdown.reason)
  end
  if count_words(member.claims) < MOST_CLAIMS then
    return nil
  end
  local kept = {}
  for id in string.gmatch(member.claims, '%S+') do
    local task = load_task(id)
    if task and is_owned_by(task, member) then
      kept[#kept + 1] = id
    end
  end
  member.claims = table.concat(kept, ' ')
  if #kept >= MOST_CLAIMS then
    return refuse('TOO_MANY', 'claims', MOST_CLAIMS)
  end
end

-- The refusal to give the task, which is not the caller's, to it; or nil.
local function refuse_task(id, task)
  if task.owner then
    return refuse('TASK_TAKEN', id, task.status, task.owner, task.expires)
  end
  if is_held_back(task) then
    return refuse('HELD_BACK', id, task.lapses, task.by, team.leader)
  end
  if is_reserved(task, member) then
    return refuse('RESERVED', id, task.assignee, task.reserved)
  end
  if team.strict and redis.call('HEXISTS', keys.unmet, id) == 1 then
    local ids, open = ends_of('d', id), {}
    local completed = statuses(ids)
    for _, other in ipairs(ids) do
      open[#open + 1] = not completed[other] and other or nil
    end
    return refuse('DEPENDENCIES_UNMET', id, table.concat(open, ', '))
  end
end

-- Gives the task to the caller.
local function hold(id, task, seconds)
  task.status, task.owner, task.login, task.ended = 'in_progress', member.handle, member.login, nil
  -- Whom it was kept for has had it: given back or lapsed, it is anybody's.
  task.claimed, task.updated, task.reserved = now_ms, now_ms, nil
  task.seconds, task.token = seconds, next_token()
  extend(id, task)
  redis.call('ZREM', keys.ready, id)
  save_task(id, task)
  member.claims, member.assigned = with_word(member.claims, id), without_word(member.assigned, id)
  renew_by(task)
  save_member(member)
  save_offers()
  emit_task('task_claimed', id, task, member.handle, member.login)
end
