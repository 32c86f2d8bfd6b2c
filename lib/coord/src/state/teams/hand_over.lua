-- hand_over: makes another member the leader.
-- KEYS: those of admission, then those of teams/team
-- ARGV: those of admission/request and teams/team, then 19 handle
-- Returns { HANDED_OVER, now, handle } or { REFUSED, now, code, words } or one of the denials of admit()
local handle = ARGV[19]
-- @include admission/admission
-- @include teams/team
-- @include teams/changes

local denial = admit() or enter(true)
if denial then
  return denial
end
if not is_leader() then
  return refuse('NOT_LEADER', team.leader, team.name)
end
local heir = load_member(handle)
if not heir then
  return refuse('NO_RECIPIENT', handle, team.name)
elseif heir.ended then
  return refuse('HAS_STOPPED', heir.handle, team.name)
end
team.leader = heir.handle
save_team(tonumber(redis.call('HGET', keys.team, 'members')))
emit_team('handed_over', heir.handle)
return told({ 'HANDED_OVER', now, heir.handle })
