-- A claim that its owner ends.
local Task = require('tasks/task')
local Team = require('teams/team')

local OwnClaim = {}

-- Whether `token` is that of the last claim; nil matches any.
local function is_token_of(task, token)
  return not token or task.token == token
end

-- The refusal if the caller may not end the claim of the task, or nil; `token`: of the claim, or nil for any. `can_be_lapsed`: whether it
-- may end an expired claim if no other member has claimed the task since.
function OwnClaim.refuse_unless_own(call, id, task, token, can_be_lapsed)
  local me = string.lower(call.member.handle)
  local was_mine = Task.is_member(call.member, task.had, task.had_login)
  local is_current = is_token_of(task, token)
  if task.owner then
    if string.lower(task.owner) == me and is_current then
      return nil
    end
    local had_it = token or was_mine
    return Team.refuse(call, had_it and 'CLAIM_LOST' or 'NOT_OWNER', { id = id, owner = task.owner, status = task.status })
  end
  if can_be_lapsed and was_mine and task.ended == 'LAPSED' and is_current then
    return nil
  end
  return Team.refuse(call, token and 'CLAIM_LOST' or 'NOT_OWNER', { id = id, status = task.status })
end

-- The refusal if the caller did not complete the task, by the claim of `token`; or nil.
function OwnClaim.refuse_unless_completed_by(call, id, task, token)
  if Task.is_member(call.member, task.owner, task.login) and is_token_of(task, token) then
    return nil
  end
  if token or Task.is_member(call.member, task.had, task.had_login) then
    return Team.refuse(call, 'CLAIM_LOST', { id = id, owner = task.owner, status = task.status })
  end
  return Team.refuse(call, 'TASK_UNAVAILABLE', { id = id, status = task.status })
end

function OwnClaim.forget_claim(call, id)
  call.member.claims, call.member.assigned = Task.without_word(call.member.claims, id), Task.without_word(call.member.assigned, id)
  Team.save_member(call, call.member)
end

return OwnClaim
