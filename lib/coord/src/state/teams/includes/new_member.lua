-- A member that joins. Needs: team.
-- @include teams/marks
-- @include teams/changes

local function add_member(handle, name, kind)
  local agent = request.agent_id ~= '' and request.agent_id or nil
  local key = string.lower(handle)
  member = {
    handle = handle, login = request.user_id, agent = agent, name = name, kind = kind, joined = now_ms, from = sequence,
    claims = '', assigned = '',
  }
  save_member(member)
  redis.call('HSET', keys.team, agent_field(member.login, agent), key)
  bind(member.login, agent, handle)
  local broadcasts = broadcasts_of(redis.call('HGET', keys.members, team_key .. '/*'))
  save_marks(key, {
    direct = 0, last = 0, own = 0, read = sequence, read_direct = 0, read_broadcast = broadcasts, read_own = 0,
    given = sequence, given_broadcast = broadcasts, given_own = 0,
  })
  redis.pcall('HSET', keys.seen, key, string.format('%.0f', now_ms))
end
