-- A member that approves a shutdown, by an answer or by asking for the same.
local Shutdown = require('departures/shutdown')
local Unpushed = require('departures/unpushed')

local Approve = {}

-- The caller stops for good. That the author of a shutdown does so is told by the event `requested`. Returns the tasks that the caller gave
-- back, what unpushed_locks() gives, and the handles that were not told because there is no room for it.
function Approve.approve(call, is_author)
  local given_back =
    Shutdown.stop_member(call, string.lower(call.member.handle), 'Given back at the shutdown of ' .. call.member.handle .. '.')
  local not_told = {}
  if not is_author then
    local what = call.shutdown.target == '*' and 'team shutdown' or 'shutdown'
    not_told = Shutdown.tell(call, call.shutdown.by, 'shutdown_approved', 'Agent ' .. call.member.handle .. ' approved ' .. what)
    Shutdown.emit_shutdown(call, 'approved', call.member.handle)
  end
  local unpushed, unpushed_count = Unpushed.locks(call)
  return given_back, unpushed, unpushed_count, not_told
end

return Approve
