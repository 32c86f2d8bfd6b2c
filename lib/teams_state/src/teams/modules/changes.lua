-- Changes of a team and of its members.
local Emit = require('events/emit')
local MemberFields = require('teams/member_fields')

local TeamChanges = {}

-- Writes the team, and its entry in a listing.
function TeamChanges.save_team(call, member_count)
  redis.call('HSET', call.keys.team, 'team', cjson.encode(call.team), 'members', member_count)
  redis.call(
    'HSET',
    call.keys.teams,
    call.team_key,
    cjson.encode({
      name = call.team.name,
      by = call.team.by,
      leader = call.team.leader,
      created = call.team.created,
      closed = call.team.closed,
      members = member_count,
    })
  )
end

-- Records that the agent is `handle` in the team, or, without a handle, no member.
function TeamChanges.bind(call, login, agent, handle)
  local field = MemberFields.agent_field(login, agent)
  local stored = redis.call('HGET', call.keys.members, field)
  local handles = stored and cjson.decode(stored) or {}
  handles[call.team_key] = handle
  if next(handles) then
    redis.call('HSET', call.keys.members, field, cjson.encode(handles))
  else
    redis.call('HDEL', call.keys.members, field)
  end
end

function TeamChanges.emit_team(call, change, handle)
  Emit.event(call, {
    type = 'team_changed',
    team = call.team.name,
    change = change,
    handle = handle,
    user = call.request.user_id,
    agent_id = call.request.agent_id ~= '' and call.request.agent_id or nil,
  })
end

return TeamChanges
