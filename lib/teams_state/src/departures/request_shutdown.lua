-- request_shutdown: asks one member to stop, or the team to close; the caller approves for itself alone.
-- KEYS: those of admission/request, of a team (`team_keys.rs`)
-- The request has the fields of teams/team, `target`: a handle, absent for the team, `reason`, and `respond_seconds`: the time to answer.
-- Returns Team.reply(): OPEN, STOPPED (the member has stopped) or CLOSED (the team is closed), `id` of the shutdown, and, if the caller
-- approves, what Approve.approve() returns; if the same shutdown is open already, the id is its id, and the caller approves it if it is
-- asked too; or REFUSED; or one of the denials of Admission.admit()
local Admission = require('admission/admission')
local Approve = require('departures/approve')
local Deliver = require('mail/deliver')
local Entries = require('locks/entries')
local Members = require('departures/members')
local Shutdown = require('departures/shutdown')
local Team = require('teams/team')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)
  Members.begin(call)
  Deliver.begin(call)
  Entries.begin(call)

  local denial = Admission.admit(call) or Team.enter(call, true)
  if denial then
    return denial
  end
  Members.load(call)
  local handle, reason = call.request.target, call.request.reason
  local me, target = string.lower(call.member.handle), handle and string.lower(handle) or '*'
  if target ~= '*' and not call.members[target] then
    return Team.refuse(call, 'NO_RECIPIENT', { handle = handle, team = call.team.name })
  elseif target ~= '*' and call.members[target].ended then
    return Team.refuse(call, 'HAS_STOPPED', { handle = call.members[target].handle, team = call.team.name })
  end
  if call.shutdown and call.shutdown.target ~= target then
    return Team.refuse(call, 'SHUTDOWN_OPEN', { id = call.shutdown.id, target = call.shutdown.target, by = call.shutdown.by })
  end
  local is_author = not call.shutdown
  if is_author then
    local message = {
      from = call.member.handle,
      login = call.member.login,
      kind = 'shutdown_request',
      message = reason,
      to = target == '*' and 'broadcast' or call.members[target].handle,
    }
    local is_sent, full_inbox, limit, most = true, nil, nil, nil
    if target == '*' then
      is_sent, full_inbox, limit, most = Deliver.broadcast(call, message)
    elseif target ~= me then
      is_sent, full_inbox, limit, most = Deliver.deliver(call, { call.members[target].handle }, message, Deliver.MAX_UNREAD_FROM_COORD)
    end
    if not is_sent then
      return Deliver.refuse_message(call, full_inbox, limit, most)
    end
    call.shutdown = {
      id = 's' .. redis.call('HINCRBY', call.keys.team, 'shutdowns', 1),
      target = target,
      by = call.member.handle,
      login = call.member.login,
      reason = reason,
      requested = call.now_ms,
      respond_by = call.now_ms + call.request.respond_seconds * 1000,
      answers = {},
      is_mild = not Team.is_leader(call) and Shutdown.rejections(call)[call.member.login] ~= nil or nil,
    }
    Shutdown.emit_shutdown(call, 'requested', call.member.handle)
  end
  local id, answer = call.shutdown.id, {}
  if (target == '*' or target == me) and call.shutdown.answers[me] ~= 'approved' then
    answer = Approve.approve(call, is_author)
  end
  answer.id = id
  return Team.reply(call, Shutdown.settle_shutdown(call), answer)
end
