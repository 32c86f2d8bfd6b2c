-- A claim that its owner ends. Needs: team.
-- @include tasks/task

-- Whether `token` is that of the last claim, or '' for any.
local function is_token_of(task, token)
  return token == '' or string.format('%.0f', task.token or 0) == token
end

-- The refusal if the task is not the caller's to end, or nil; `token`: of the claim, or '' for any. `can_be_lapsed`: whether a claim
-- that lapsed and is nobody else's will do.
local function refuse_unless_own(id, task, token, can_be_lapsed)
  local me = string.lower(member.handle)
  local was_mine = is_member(member, task.had, task.had_login)
  local is_current = is_token_of(task, token)
  if task.owner then
    if string.lower(task.owner) == me and is_current then
      return nil
    end
    local had_it = token ~= '' or was_mine
    return refuse(had_it and 'CLAIM_LOST' or 'NOT_OWNER', id, task.owner, task.status)
  end
  if can_be_lapsed and was_mine and task.ended == 'LAPSED' and is_current then
    return nil
  end
  return refuse(token ~= '' and 'CLAIM_LOST' or 'NOT_OWNER', id, '', task.status)
end

-- The refusal if it was not the caller who has completed the task, by the claim of `token`, or nil.
local function refuse_unless_completed_by(id, task, token)
  if is_member(member, task.owner, task.login) and is_token_of(task, token) then
    return nil
  end
  if token ~= '' or is_member(member, task.had, task.had_login) then
    return refuse('CLAIM_LOST', id, task.owner, task.status)
  end
  return refuse('TASK_UNAVAILABLE', id, task.status)
end

local function forget_claim(id)
  member.claims, member.assigned = without_word(member.claims, id), without_word(member.assigned, id)
  save_member(member)
end
