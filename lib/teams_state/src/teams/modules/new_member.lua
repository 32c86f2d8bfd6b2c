-- A member that joins. The request has `member`: the `handle` of the caller's agent, and its `name` and `kind`, to show.
local InboxCounts = require('teams/inbox_counts')
local Marks = require('teams/marks')
local MemberFields = require('teams/member_fields')
local Team = require('teams/team')
local TeamChanges = require('teams/changes')

local NewMember = {}

function NewMember.add_member(call)
  local handle = call.request.member.handle
  local agent = call.request.agent_id ~= '' and call.request.agent_id or nil
  local key = string.lower(handle)
  call.member = {
    handle = handle,
    login = call.request.user_id,
    agent = agent,
    name = call.request.member.name,
    kind = call.request.member.kind,
    joined = call.now_ms,
    from = call.sequence,
    claims = '',
    assigned = '',
  }
  Team.save_member(call, call.member)
  redis.call('HSET', call.keys.team, MemberFields.agent_field(call.member.login, agent), key)
  TeamChanges.bind(call, call.member.login, agent, handle)
  local broadcasts = InboxCounts.broadcasts_of(redis.call('HGET', call.keys.members, call.team_key .. '/*'))
  Marks.save_marks(call, key, {
    direct = 0,
    last = 0,
    own = 0,
    read = call.sequence,
    read_direct = 0,
    read_broadcast = broadcasts,
    read_own = 0,
    given = call.sequence,
    given_broadcast = broadcasts,
    given_own = 0,
  })
  redis.pcall('HSET', call.keys.seen, key, string.format('%.0f', call.now_ms))
end

return NewMember
