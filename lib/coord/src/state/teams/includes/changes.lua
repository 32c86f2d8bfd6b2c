-- Changes of a team and of who is in it. Needs: team. Scripts of tasks and messages have none of these: a script has 200 locals at
-- most.

-- Writes the team, and what a listing shows of it.
local function save_team(member_count)
  redis.call('HSET', keys.team, 'team', cjson.encode(team), 'members', member_count)
  redis.call('HSET', keys.teams, team_key, cjson.encode({
    name = team.name, by = team.by, leader = team.leader, created = team.created, closed = team.closed, members = member_count,
  }))
end

-- Writes that the agent is `handle` in the team, or nothing there.
local function bind(login, agent, handle)
  local field = agent_field(login, agent)
  local stored = redis.call('HGET', keys.members, field)
  local handles = stored and cjson.decode(stored) or {}
  handles[team_key] = handle
  if next(handles) then
    redis.call('HSET', keys.members, field, cjson.encode(handles))
  else
    redis.call('HDEL', keys.members, field)
  end
end

local function emit_team(change, handle)
  emit({
    type = 'team_changed', team = team.name, change = change, handle = handle,
    user = request.user_id, agent_id = request.agent_id ~= '' and request.agent_id or nil,
  })
end
