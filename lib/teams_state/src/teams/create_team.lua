-- create_team: creates a team that the caller leads.
-- KEYS: those of admission/request, of a team (`team_keys.rs`)
-- The request has the fields of teams/team and teams/new_member, and `is_strict`: dependencies must be met before a claim, and
-- `description`, absent for none.
-- Returns Team.reply(): CREATED, or REFUSED; or one of the denials of Admission.admit()
local Admission = require('admission/admission')
local NewMember = require('teams/new_member')
local Team = require('teams/team')
local TeamChanges = require('teams/changes')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)

  local denial = Admission.admit(call)
  if denial then
    return denial
  end
  local MAX_TEAMS, MAX_PER_LOGIN = 100, 20
  if redis.call('HEXISTS', call.keys.teams, call.team_key) == 1 then
    return Team.refuse(call, 'TEAM_EXISTS', { team = call.team_name })
  end
  local stored, count, own = redis.call('HGETALL', call.keys.teams), 0, 0
  for index = 1, #stored, 2 do
    -- A field with a slash is a count.
    if not string.find(stored[index], '/', 1, true) then
      count = count + 1
      own = own + (cjson.decode(stored[index + 1]).by == call.request.user_id and 1 or 0)
    end
  end
  if count >= MAX_TEAMS then
    return Team.refuse(call, 'TOO_MANY', { what = 'teams', most = MAX_TEAMS })
  elseif own >= MAX_PER_LOGIN then
    return Team.refuse(call, 'TOO_MANY', { what = 'teams made by one login', most = MAX_PER_LOGIN })
  end
  call.team = {
    name = call.team_name,
    created = call.now_ms,
    by = call.request.user_id,
    leader = call.request.member.handle,
    strict = call.request.is_strict,
    description = call.request.description,
  }
  redis.call('HSET', call.keys.teams, call.team_key .. '/open', 0, call.team_key .. '/done', 0)
  call.sequence = 0
  TeamChanges.save_team(call, 1)
  NewMember.add_member(call)
  TeamChanges.emit_team(call, 'created', call.team.leader)
  return Team.reply(call, 'CREATED', {})
end
