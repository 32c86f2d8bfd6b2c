-- delete_team: removes a team and all that is in it, once it is closed or nobody else is live.
-- KEYS: those of admission, then those of teams/team
-- ARGV: those of admission/request and teams/team
-- Returns { DELETED, now } or { REFUSED, now, code, words } or one of the denials of admit()
-- @include admission/admission
-- @include teams/team
-- @include departures/members
-- @include teams/changes

local denial = admit() or enter(false)
if denial then
  return denial
end
if not is_leader() then
  return refuse('NOT_LEADER', team.leader, team.name)
end
load_members()
local me, live = string.lower(member.handle), {}
for key, record in pairs(members) do
  if key ~= me and not team.closed and not record.ended and is_live(key) then
    live[#live + 1] = record.handle
  end
end
if #live > 0 then
  table.sort(live)
  return refuse('MEMBERS_LIVE', team.name, table.concat(live, ', ', 1, math.min(#live, 20)), #live)
end
for key, record in pairs(members) do
  redis.call('HDEL', keys.members, team_key .. '/' .. key, team_key .. '/!' .. key)
  bind(record.login, record.agent, nil)
end
redis.call('HDEL', keys.members, team_key .. '/*', team_key .. '/!', team_key .. '/+')
redis.call('HDEL', keys.teams, team_key, team_key .. '/open', team_key .. '/done')
redis.call('UNLINK', keys.team, keys.seen, keys.answers, keys.mail, keys.bodies, keys.tasks, keys.texts, keys.order, keys.done,
  keys.edges, keys.unmet, keys.ready, keys.leases)
emit_team('deleted', member.handle)
return told({ 'DELETED', now })
