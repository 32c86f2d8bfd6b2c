-- A member that approves a shutdown, by an answer or by requesting the same shutdown.
local Answer = require('answer')
local Shutdown = require('departures/shutdown')
local Unpushed = require('departures/unpushed')

local Approve = {}

-- The caller stops for good. The event `requested` reports that the author of a shutdown stops. Returns `given_back`: ids of the tasks that it
-- released, `unpushed` and `unpushed_count`: what Unpushed.locks() returns, and `not_told`: the handles that were not notified because their
-- inboxes are full; lists are absent for none.
function Approve.approve(call, is_author)
  local released = Shutdown.stop_member(call, string.lower(call.member.handle), 'Released at the shutdown of ' .. call.member.handle .. '.')
  local not_notified
  if not is_author then
    local subject = call.shutdown.target == '*' and 'team shutdown' or 'shutdown'
    not_notified = Shutdown.notify(call, call.shutdown.by, 'shutdown_approved', 'Agent ' .. call.member.handle .. ' approved ' .. subject)
    Shutdown.emit_shutdown(call, 'approved', call.member.handle)
  end
  local unpushed, unpushed_count = Unpushed.locks(call)
  return { given_back = Answer.some(released), unpushed = Answer.some(unpushed), unpushed_count = unpushed_count, not_told = not_notified }
end

return Approve
