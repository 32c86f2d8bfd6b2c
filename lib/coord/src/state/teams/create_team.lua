-- create_team: makes a team that the caller leads.
-- KEYS: those of admission, then those of teams/team
-- ARGV: those of admission/request and teams/team, then 19 handle, 20 name and 21 kind of the caller's agent, 22 '1' if dependencies
--       must be met before a claim, 23 description or ''
-- Returns { CREATED, now } or { REFUSED, now, code, words } or one of the denials of admit()
local handle, name, kind, strict, description = unpack(ARGV, 19, 23)
-- @include admission/admission
-- @include teams/team
-- @include teams/new_member

local denial = admit()
if denial then
  return denial
end
local MOST_TEAMS, MOST_OF_LOGIN = 100, 20
if redis.call('HEXISTS', keys.teams, team_key) == 1 then
  return refuse('TEAM_EXISTS', team_name)
end
local stored, count, own = redis.call('HGETALL', keys.teams), 0, 0
for index = 1, #stored, 2 do
  -- Counts have a slash in their names.
  if not string.find(stored[index], '/', 1, true) then
    count = count + 1
    own = own + (cjson.decode(stored[index + 1]).by == request.user_id and 1 or 0)
  end
end
if count >= MOST_TEAMS then
  return refuse('TOO_MANY', 'teams', MOST_TEAMS)
elseif own >= MOST_OF_LOGIN then
  return refuse('TOO_MANY', 'teams made by one login', MOST_OF_LOGIN)
end
team = {
  name = team_name, created = now_ms, by = request.user_id, leader = handle, strict = strict == '1' or nil,
  description = description ~= '' and description or nil,
}
redis.call('HSET', keys.teams, team_key .. '/open', 0, team_key .. '/done', 0)
sequence = 0
save_team(1)
add_member(handle, name, kind)
emit_team('created', handle)
return told({ 'CREATED', now })
