-- The caller's claims: any call of a member that may change tasks, and reading and sending messages, renews those of which half of the
-- time is gone, with the locks that were claimed with them. Reads that everybody may make renew nothing. Needs: team.
-- @include tasks/task
-- @include tasks/file_locks

-- Sets when the next claim of the caller has used half of its time.
local function renew_by(task)
  local half = task.expires - task.seconds * 500
  member.renew_at = math.min(member.renew_at or half, half)
end

local function renew_claims()
  if member.claims == '' or now_ms < (member.renew_at or 0) then
    return
  end
  local kept, renewed = {}, {}
  member.renew_at = nil
  for id in string.gmatch(member.claims, '%S+') do
    local task = load_task(id)
    if task and is_owned_by(task, member) then
      -- Where there are too many locks for one call, a later one renews the rest.
      if now_ms >= task.expires - task.seconds * 500 and renew_locks(id, task, now_ms + task.seconds * 1000, renewed) then
        extend(id, task)
        save_task(id, task)
      end
      renew_by(task)
      kept[#kept + 1] = id
    end
  end
  member.claims = table.concat(kept, ' ')
  save_member(member)
  save_renewed(renewed)
end
