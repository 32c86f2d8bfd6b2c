-- A team, and the caller as its member.
-- The request has `team`: the team in lower case, and `team_name`: its name as the caller writes it, absent if the team is assumed to be
-- the caller's only one.
local Answer = require('answer')
local InboxCounts = require('teams/inbox_counts')
local MemberFields = require('teams/member_fields')

local Team = {}

function Team.begin(call)
  call.team_key, call.team_name = call.request.team, call.request.team_name
  -- call.team: `name`, `created` and `closed` (Unix milliseconds), `by` (login), `leader`, `strict`, `description`
  -- call.member: the caller's member record: `handle`, `login`, `agent`, `name`, `kind`; `joined` and `ended`, when it approved a
  --   shutdown (Unix milliseconds); `from`, the message sequence at joining; `claims` and `assigned`, ids of tasks separated by blanks,
  --   of which some may be gone; `renew_at`, before which none of its claims has used half of its time; `before`, the agents that had
  --   the handle
  -- call.shutdown: the open one, or nil: see departures/modules/shutdown.lua
  -- call.sequence: of the newest message
  -- call.unread: how many messages the caller has not read, if that is known
  -- call.bound: the handle of the caller's agent, in lower case, after a '!' if another agent has it now; or false
end

-- The open shutdown without its answers.
local function shutdown_summary(call)
  return {
    id = call.shutdown.id,
    target = call.shutdown.target,
    by = call.shutdown.by,
    reason = call.shutdown.reason,
    respond_by = call.shutdown.respond_by,
  }
end

-- The same as text for the field TEAM/!.
function Team.shutdown_text(call)
  return cjson.encode(shutdown_summary(call))
end

-- Pending items for the caller: `unread`: number of messages, and `shutdown`: the one that it has yet to answer; nil for a caller that
-- is not a member.
local function pending_items(call)
  local me = call.member and string.lower(call.member.handle) or call.bound
  if not me or string.sub(me, 1, 1) == '!' then
    return nil
  end
  local unread = call.unread
  if not unread then
    local counts, broadcasts = unpack(redis.call('HMGET', call.keys.members, call.team_key .. '/' .. me, call.team_key .. '/*'))
    unread = counts and InboxCounts.unread_of(InboxCounts.marks_of(counts), (InboxCounts.broadcasts_of(broadcasts)))
  end
  if not unread then
    return nil
  end
  local is_asked = call.shutdown and (call.shutdown.target == '*' or call.shutdown.target == me) and not call.shutdown.answers[me]
  return { unread = unread, shutdown = is_asked and shutdown_summary(call) or nil }
end

-- The reply { outcome, now, the answer as JSON }; it adds to the answer `waiting`: pending items for the caller.
function Team.reply(call, outcome, answer)
  answer.waiting = pending_items(call)
  return Answer.reply(call, outcome, answer)
end

-- The reply to a request that the rules refuse: nothing was changed. The answer is the `refusal`, with its fields as in `refusal.rs`,
-- and its `code`.
function Team.refuse(call, code, refusal)
  refusal.code = code
  return Team.reply(call, 'REFUSED', refusal)
end

function Team.load_member(call, handle)
  local stored = redis.call('HGET', call.keys.team, '=' .. string.lower(handle))
  return stored and cjson.decode(stored)
end

function Team.save_member(call, record)
  redis.call('HSET', call.keys.team, '=' .. string.lower(record.handle), cjson.encode(record))
end

-- Loads the team; nil, or the refusal, or ASK_TEAM if the team was assumed to be the caller's only one, and is not: `handles` of the
-- caller, by team in lower case.
function Team.load_team(call)
  if not call.team_name then
    local stored = redis.call('HGET', call.keys.members, MemberFields.agent_field(call.request.user_id, call.request.agent_id)) or '{}'
    local handles = cjson.decode(stored)
    if next(handles) ~= call.team_key or next(handles, call.team_key) then
      return Answer.reply(call, 'ASK_TEAM', { handles = handles })
    end
  end
  local stored, open_shutdown
  stored, open_shutdown, call.sequence, call.bound = unpack(
    redis.call(
      'HMGET',
      call.keys.team,
      'team',
      'shutdown',
      'sequence',
      MemberFields.agent_field(call.request.user_id, call.request.agent_id)
    )
  )
  if not stored then
    return Team.refuse(call, 'NO_TEAM', { team = call.team_name or call.team_key })
  end
  call.team, call.shutdown, call.sequence =
    cjson.decode(stored), open_shutdown and cjson.decode(open_shutdown) or nil, tonumber(call.sequence or 0)
end

-- Loads the team and the caller; nil, or the refusal. Records that the caller was seen now, unless someone else makes the call in its place
-- (`for_another`).
function Team.enter(call, writes, for_another)
  local refusal = Team.load_team(call)
  if refusal then
    return refusal
  end
  if not call.bound then
    return Team.refuse(call, 'NOT_A_MEMBER', {
      who = call.request.agent_id ~= '' and call.request.agent_id or call.request.user_id,
      team = call.team.name,
    })
  end
  local is_superseded = string.sub(call.bound, 1, 1) == '!'
  call.member = Team.load_member(call, is_superseded and string.sub(call.bound, 2) or call.bound)
  if is_superseded then
    return Team.refuse(call, 'SUPERSEDED', { handle = call.member.handle, agent = call.member.agent })
  end
  if not for_another then
    redis.pcall('HSET', call.keys.seen, call.bound, string.format('%.0f', call.now_ms))
  end
  if writes and call.team.closed then
    return Team.refuse(call, 'TEAM_CLOSED', { team = call.team.name })
  end
end

function Team.is_leader(call)
  return string.lower(call.team.leader) == string.lower(call.member.handle)
end

return Team
