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
-- Three fields for a team.
local MOST_TEAMS = 100
if redis.call('HEXISTS', keys.teams, team_key) == 1 then
  return refuse('TEAM_EXISTS', team_name)
end
if redis.call('HLEN', keys.teams) >= 3 * MOST_TEAMS then
  return refuse('TOO_MANY', 'teams', MOST_TEAMS)
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
