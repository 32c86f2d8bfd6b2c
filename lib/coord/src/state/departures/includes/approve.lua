-- A member that approves a shutdown, by an answer or by asking for the same. Needs: team.
-- @include departures/shutdown
-- @include departures/unpushed

-- The caller stops for good. That the author of a shutdown does so is told by the event `requested`. Returns the tasks that the caller gave back, what
-- unpushed_locks() gives, and the handles that were not told because there is no room for it.
local function approve(is_author)
  local given_back = stop_member(string.lower(member.handle), 'Given back at the shutdown of ' .. member.handle .. '.')
  local not_told = {}
  if not is_author then
    local what = shutdown.target == '*' and 'team shutdown' or 'shutdown'
    not_told = tell(shutdown.by, 'shutdown_approved', 'Agent ' .. member.handle .. ' approved ' .. what)
    emit_shutdown('approved', member.handle)
  end
  local unpushed, unpushed_count = unpushed_locks()
  return given_back, unpushed, unpushed_count, not_told
end
