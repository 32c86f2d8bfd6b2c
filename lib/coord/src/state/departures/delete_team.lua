-- delete_team: removes a team and all that is in it: the leader's right, once it is closed or nobody else is live, and anybody's once
-- it is abandoned.
-- KEYS: those of admission, then those of teams/team
-- ARGV: those of admission/request and teams/team
-- Returns { DELETED, now } or { REFUSED, now, code, words } or one of the denials of admit()
-- @include admission/admission
-- @include teams/team
-- @include departures/members
-- @include teams/changes
-- @include teams/bytes

-- Whether no member was seen for two weeks. No claim lasts so long.
local function is_abandoned()
  local ABANDONED_AFTER_MS = 14 * 86400000
  local newest, stored = team.created, redis.call('HGETALL', keys.seen)
  for index = 2, #stored, 2 do
    newest = math.max(newest, tonumber(stored[index]))
  end
  return now_ms - newest >= ABANDONED_AFTER_MS
end

-- The refusal to let the caller, a member, delete the team while it is in use, or nil.
local function refuse_in_use()
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
end

-- Before the caller is seen as a member.
local denial = admit() or load_team()
if denial then
  return denial
end
if is_abandoned() then
  load_members()
else
  local refusal = enter(false) or refuse_in_use()
  if refusal then
    return refusal
  end
end
for key, record in pairs(members) do
  redis.call('HDEL', keys.members, team_key .. '/' .. key, team_key .. '/!' .. key)
  bind(record.login, record.agent, nil)
end
redis.call('HDEL', keys.members, team_key .. '/*', team_key .. '/!', team_key .. '/+')
redis.call('HDEL', keys.teams, team_key, team_key .. '/open', team_key .. '/done')
local stored = redis.call('HGETALL', keys.team)
for index = 1, #stored, 2 do
  local kind, login = string.match(stored[index], '^(%l+) (.*)$')
  if kind then
    count_bytes(kind, login, -stored[index + 1])
  end
end
redis.call('UNLINK', keys.team, keys.seen, keys.mail, keys.bodies, keys.tasks, keys.texts, keys.order, keys.done,
  keys.edges, keys.unmet, keys.ready, keys.leases)
emit_team('deleted', team.leader)
return told({ 'DELETED', now })
