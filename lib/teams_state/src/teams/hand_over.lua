-- hand_over: makes another member the leader.
-- KEYS: those of admission/request, of a team (`team_keys.rs`)
-- The request has the fields of teams/team, and `to`: a handle.
-- Returns Team.reply(): HANDED_OVER, `handle` of the new leader, or REFUSED; or one of the denials of Admission.admit()
local Admission = require('admission/admission')
local Team = require('teams/team')
local TeamChanges = require('teams/changes')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)

  local denial = Admission.admit(call) or Team.enter(call, true)
  if denial then
    return denial
  end
  if not Team.is_leader(call) then
    return Team.refuse(call, 'NOT_LEADER', { leader = call.team.leader, team = call.team.name })
  end
  local handle = call.request.to
  local new_leader = Team.load_member(call, handle)
  if not new_leader then
    return Team.refuse(call, 'NO_RECIPIENT', { handle = handle, team = call.team.name })
  elseif new_leader.ended then
    return Team.refuse(call, 'HAS_STOPPED', { handle = new_leader.handle, team = call.team.name })
  end
  call.team.leader = new_leader.handle
  TeamChanges.save_team(call, tonumber(redis.call('HGET', call.keys.team, 'members')))
  TeamChanges.emit_team(call, 'handed_over', new_leader.handle)
  return Team.reply(call, 'HANDED_OVER', { handle = new_leader.handle })
end
