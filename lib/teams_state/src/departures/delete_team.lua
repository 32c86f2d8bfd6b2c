-- delete_team: deletes a team and everything in it. The leader may do this once the team is closed or has no other live member, and anyone
-- once it is abandoned.
-- KEYS: those of admission/request, of a team (`team_keys.rs`)
-- The request has the fields of teams/team.
-- Returns Team.reply(): DELETED, or REFUSED; or one of the denials of Admission.admit()
local Admission = require('admission/admission')
local Chunks = require('chunks')
local Members = require('departures/members')
local Team = require('teams/team')
local TeamBytes = require('teams/bytes')
local TeamChanges = require('teams/changes')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)
  Members.begin(call)

  -- Whether no member has been seen for two weeks. No claim lasts that long.
  local function is_abandoned()
    local ABANDONED_AFTER_MS = 14 * 86400000
    local newest, stored = call.team.created, redis.call('HGETALL', call.keys.seen)
    for index = 2, #stored, 2 do
      newest = math.max(newest, tonumber(stored[index]))
    end
    return call.now_ms - newest >= ABANDONED_AFTER_MS
  end

  -- The refusal if the caller, a member, may not delete the team while it is in use; or nil.
  local function refuse_in_use()
    if not Team.is_leader(call) then
      return Team.refuse(call, 'NOT_LEADER', { leader = call.team.leader, team = call.team.name })
    end
    Members.load(call)
    local me, live = string.lower(call.member.handle), {}
    for key, record in pairs(call.members) do
      if key ~= me and not call.team.closed and not record.ended and Members.is_live(call, key) then
        live[#live + 1] = record.handle
      end
    end
    if #live > 0 then
      table.sort(live)
      return Team.refuse(call, 'MEMBERS_LIVE', {
        team = call.team.name,
        live = Chunks.slice(live, 1, math.min(#live, 20)),
        count = #live,
      })
    end
  end

  -- is_abandoned() runs before Team.enter() records that the caller was seen.
  local denial = Admission.admit(call) or Team.load_team(call)
  if denial then
    return denial
  end
  if is_abandoned() then
    Members.load(call)
  else
    local refusal = Team.enter(call, false) or refuse_in_use()
    if refusal then
      return refusal
    end
  end
  for key, record in pairs(call.members) do
    redis.call('HDEL', call.keys.members, call.team_key .. '/' .. key, call.team_key .. '/!' .. key)
    TeamChanges.bind(call, record.login, record.agent, nil)
  end
  redis.call('HDEL', call.keys.members, call.team_key .. '/*', call.team_key .. '/!', call.team_key .. '/+')
  redis.call('HDEL', call.keys.teams, call.team_key, call.team_key .. '/open', call.team_key .. '/done')
  local stored = redis.call('HGETALL', call.keys.team)
  for index = 1, #stored, 2 do
    local kind, login = string.match(stored[index], '^(%l+) (.*)$')
    if kind then
      TeamBytes.count_bytes(call, kind, login, -stored[index + 1])
    end
  end
  redis.call(
    'UNLINK',
    call.keys.team,
    call.keys.seen,
    call.keys.mail,
    call.keys.bodies,
    call.keys.tasks,
    call.keys.texts,
    call.keys.order,
    call.keys.done,
    call.keys.edges,
    call.keys.unmet,
    call.keys.ready,
    call.keys.leases
  )
  TeamChanges.emit_team(call, 'deleted', call.team.leader)
  return Team.reply(call, 'DELETED', {})
end
