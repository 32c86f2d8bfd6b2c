-- Renewals of the caller's claims. Each call of a member that may change tasks, or reads or sends messages, renews the claims that have
-- used half of their time, with the locks that were claimed with them. Reads that anyone may make renew nothing.
local FileLocks = require('tasks/file_locks')
local Task = require('tasks/task')
local Team = require('teams/team')

local Renewals = {}

-- Sets when the next claim of the caller has used half of its time.
function Renewals.renew_by(call, task)
  local half = task.expires - task.seconds * 500
  call.member.renew_at = math.min(call.member.renew_at or half, half)
end

function Renewals.renew(call)
  if call.member.claims == '' or call.now_ms < (call.member.renew_at or 0) then
    return
  end
  local kept, renewed = {}, {}
  call.member.renew_at = nil
  for id in string.gmatch(call.member.claims, '%S+') do
    local task = Task.load_task(call, id)
    if task and Task.is_owned_by(call, task, call.member) then
      -- If there are too many locks for one call, a later call renews the rest.
      if
        call.now_ms >= task.expires - task.seconds * 500
        and FileLocks.renew_locks(call, id, task, call.now_ms + task.seconds * 1000, renewed)
      then
        Task.extend(call, id, task)
        Task.save_task(call, id, task)
      end
      Renewals.renew_by(call, task)
      kept[#kept + 1] = id
    end
  end
  call.member.claims = table.concat(kept, ' ')
  Team.save_member(call, call.member)
  FileLocks.save_renewed(call, renewed)
end

return Renewals
