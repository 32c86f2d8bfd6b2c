-- request_shutdown: asks one member to stop, or the team to close; the caller approves for itself alone.
-- KEYS: those of admission, those of departures/unpushed, then those of teams/team
-- ARGV: those of admission/request and teams/team, then 19 handle, '' for the team, 20 reason, 21 seconds to respond
-- Returns { state, now, id of the shutdown, tasks that the caller gave back, what unpushed_locks() gives of a caller that stops,
--           members that were not told because there is no room for it }, where state is OPEN, STOPPED (the member has stopped) or CLOSED
--           (the team is closed); if the same is asked for already, the id is that of the first request, which the caller may approve so
--      or { REFUSED, now, code, words } or one of the denials of admit()
local handle, reason, respond_seconds = ARGV[19], ARGV[20], tonumber(ARGV[21])
-- @include admission/admission
-- @include teams/team
-- @include departures/approve

local denial = admit() or enter(true)
if denial then
  return denial
end
load_members()
local me, target = string.lower(member.handle), handle == '' and '*' or string.lower(handle)
if target ~= '*' and not members[target] then
  return refuse('NO_RECIPIENT', handle, team.name)
elseif target ~= '*' and members[target].ended then
  return refuse('HAS_STOPPED', members[target].handle, team.name)
end
if shutdown and shutdown.target ~= target then
  return refuse('SHUTDOWN_OPEN', shutdown.id, shutdown.target, shutdown.by)
end
local is_author = not shutdown
if is_author then
  local message = {
    from = member.handle, login = member.login, kind = 'shutdown_request', message = reason,
    to = target == '*' and 'broadcast' or members[target].handle,
  }
  local sent, full, what, most = true, nil, nil, nil
  if target == '*' then
    sent, full, what, most = broadcast(message)
  elseif target ~= me then
    sent, full, what, most = deliver({ members[target].handle }, message, MOST_UNREAD_OF_COORD)
  end
  if not sent then
    return refuse_message(full, what, most)
  end
  shutdown = {
    id = 's' .. redis.call('HINCRBY', keys.team, 'shutdowns', 1), target = target, by = member.handle, login = member.login,
    reason = reason, requested = now_ms, respond_by = now_ms + respond_seconds * 1000, answers = {},
    is_mild = not is_leader() and rejections()[member.login] ~= nil or nil,
  }
  emit_shutdown('requested', member.handle)
end
local id, given_back, unpushed, unpushed_count, not_told = shutdown.id, {}, {}, 0, {}
if (target == '*' or target == me) and shutdown.answers[me] ~= 'approved' then
  given_back, unpushed, unpushed_count, not_told = approve(is_author)
end
return told({ settle_shutdown(), now, id, given_back, unpushed, unpushed_count, not_told })
