-- Claims of tasks.
local Answer = require('answer')
local Edges = require('tasks/edges')
local Offers = require('tasks/offers')
local Renewals = require('tasks/renewals')
local Task = require('tasks/task')
local Team = require('teams/team')
local Tokens = require('locks/tokens')

local Hold = {}

-- The refusal if the caller may not claim any task now, or nil.
function Hold.refuse_claim(call)
  local MAX_CLAIMS = 50
  if call.member.ended then
    return Team.refuse(call, 'SHUTTING_DOWN', { reason = 'approved' })
  end
  local me = string.lower(call.member.handle)
  -- An approval is final, even for a member that has joined again since.
  local is_asked = call.shutdown and (call.shutdown.target == me or call.shutdown.target == '*')
  local answer = is_asked and call.shutdown.answers[me]
  local may_work = answer == 'rejected' or (not answer and is_asked and call.shutdown.is_mild and call.member.login ~= call.shutdown.login)
  if is_asked and not may_work then
    return Team.refuse(call, 'SHUTTING_DOWN', { id = call.shutdown.id, reason = call.shutdown.reason })
  end
  if Task.count_words(call.member.claims) < MAX_CLAIMS then
    return nil
  end
  local kept = {}
  for id in string.gmatch(call.member.claims, '%S+') do
    local task = Task.load_task(call, id)
    if task and Task.is_owned_by(call, task, call.member) then
      kept[#kept + 1] = id
    end
  end
  call.member.claims = table.concat(kept, ' ')
  if #kept >= MAX_CLAIMS then
    return Team.refuse(call, 'TOO_MANY', { what = 'claims', most = MAX_CLAIMS })
  end
end

-- The refusal if the caller, which does not have the task, may not claim it; or nil.
function Hold.refuse_task(call, id, task)
  if task.owner then
    return Team.refuse(call, 'TASK_TAKEN', { id = id, status = task.status, owner = task.owner, expires = task.expires })
  end
  if Task.is_held_back(task) then
    return Team.refuse(call, 'HELD_BACK', { id = id, lapses = task.lapses, creator = task.by, leader = call.team.leader })
  end
  if Task.is_reserved(call, task, call.member) then
    return Team.refuse(call, 'RESERVED', { id = id, assignee = task.assignee, ends = task.reserved })
  end
  if call.team.strict and redis.call('HEXISTS', call.keys.unmet, id) == 1 then
    local ids, open = Edges.ends_of(call, 'd', id), {}
    local completed = Edges.statuses(call, ids)
    for _, other in ipairs(ids) do
      open[#open + 1] = not completed[other] and other or nil
    end
    return Team.refuse(call, 'DEPENDENCIES_UNMET', { id = id, unmet = Answer.some(open) })
  end
end

-- Claims the task for the caller.
function Hold.hold(call, id, task, seconds)
  task.status, task.owner, task.login, task.ended = 'in_progress', call.member.handle, call.member.login, nil
  -- The reservation is used up: once released or expired, any member may claim it.
  task.claimed, task.updated, task.reserved = call.now_ms, call.now_ms, nil
  task.seconds, task.token = seconds, Tokens.next(call)
  Task.extend(call, id, task)
  redis.call('ZREM', call.keys.ready, id)
  Task.save_task(call, id, task)
  call.member.claims, call.member.assigned = Task.with_word(call.member.claims, id), Task.without_word(call.member.assigned, id)
  Renewals.renew_by(call, task)
  Team.save_member(call, call.member)
  Offers.save(call)
  Task.emit_task(call, 'task_claimed', id, task, call.member.handle, call.member.login)
end

return Hold
