-- The caller's claims: any call of a member on tasks or its inbox renews those of which half of the time is gone. Needs: team.
-- @include tasks/task

-- Sets when the next claim of the caller has used half of its time.
local function renew_by(task)
  local half = task.expires - task.seconds * 500
  member.renew_at = math.min(member.renew_at or half, half)
end

local function renew_claims()
  if member.claims == '' or now_ms < (member.renew_at or 0) then
    return
  end
  local kept = {}
  member.renew_at = nil
  for id in string.gmatch(member.claims, '%S+') do
    local task = load_task(id)
    if task and is_owned_by(task, member) then
      if now_ms >= task.expires - task.seconds * 500 then
        extend(id, task)
        save_task(id, task)
      end
      renew_by(task)
      kept[#kept + 1] = id
    end
  end
  member.claims = table.concat(kept, ' ')
  save_member(member)
end
