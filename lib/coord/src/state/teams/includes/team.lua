-- A team, and the caller as its member. Needs: admission.
-- KEYS, the last 23: 1 status log, 2 events channel, 3 teams, 4 members, 5 team, 6 seen, 7 answers, 8 mail, 9 bodies, 10 tasks,
--       11 texts, 12 order, 13 done, 14 edges, 15 unmet, 16 ready, 17 leases, 18 fencing token,
--       19 locks, 20 expiries, 21 held, 22 index of lapses, 23 shares of logins
-- ARGV: 17 team in lower case, 18 its name as the caller writes it, or '' where it is assumed to be the only one of the caller
local behind = #KEYS - 23
keys.status_log, keys.events, keys.teams, keys.members, keys.team, keys.seen, keys.answers, keys.mail, keys.bodies, keys.tasks,
  keys.texts, keys.order, keys.done, keys.edges, keys.unmet, keys.ready, keys.leases, keys.token, keys.locks, keys.expiries,
  keys.held, keys.lapses, keys.shares = unpack(KEYS, behind + 1)
local team_key, team_name = ARGV[17], ARGV[18]
-- @include events/emit
-- @include teams/member_fields
-- @include teams/inbox_counts

-- The team: `name`, `created` and `closed` (Unix milliseconds), `by` (login), `leader`, `strict`, `description`.
-- The caller's member record: `handle`, `login`, `agent`, `name`, `kind`; `joined` and `ended`, when it approved a shutdown (Unix
-- milliseconds); `from`, the message sequence at joining; `claims` and `assigned`, ids of tasks separated by blanks, of which some
-- may be gone; `renew_at`, before which no claim of it has used half of its time; `before`, the agents that had the handle.
local team, member
local shutdown -- the open one, or nil: see departures/includes/shutdown.lua
local sequence -- of the newest message
local bound -- to the agent of the caller: a handle in lower case, with a '!' before it if another agent has it now; or false

-- The open shutdown without its answers, as text in the field TEAM/!.
local function shutdown_text()
  return cjson.encode({
    id = shutdown.id, target = shutdown.target, by = shutdown.by, reason = shutdown.reason, respond_by = shutdown.respond_by,
  })
end

-- Completes an outcome with what waits for the caller, { number of unread messages, the shutdown that it has yet to answer as JSON,
-- or '' }; {} for who is no member. `unread`: that number, where it is known.
local function told(outcome, unread)
  local me = member and string.lower(member.handle) or bound
  local waits = {}
  if me and string.sub(me, 1, 1) ~= '!' then
    if not unread then
      local counts, broadcasts = unpack(redis.call('HMGET', keys.members, team_key .. '/' .. me, team_key .. '/*'))
      unread = counts and unread_of(marks_of(counts), (broadcasts_of(broadcasts)))
    end
    if unread then
      local is_asked = shutdown and (shutdown.target == '*' or shutdown.target == me) and not shutdown.answers[me]
      waits = { unread, is_asked and shutdown_text() or '' }
    end
  end
  outcome[#outcome + 1] = waits
  return outcome
end

-- The outcome of a request that the rules refuse: nothing was changed.
local function refuse(code, ...)
  local words = { ... }
  for index, word in ipairs(words) do
    words[index] = tostring(word)
  end
  return told({ 'REFUSED', now, code, words })
end

local function load_member(handle)
  local stored = redis.call('HGET', keys.team, '=' .. string.lower(handle))
  return stored and cjson.decode(stored)
end

local function save_member(record)
  redis.call('HSET', keys.team, '=' .. string.lower(record.handle), cjson.encode(record))
end

-- Loads the team; nil, or the refusal, or { ASK_TEAM, now, the teams of the caller with its handles as JSON } where the team is not
-- the only one of the caller, as it was assumed to be.
local function load_team()
  if team_name == '' then
    local stored = redis.call('HGET', keys.members, agent_field(request.user_id, request.agent_id)) or '{}'
    local handles = cjson.decode(stored)
    if next(handles) ~= team_key or next(handles, team_key) then
      return { 'ASK_TEAM', now, stored }
    end
  end
  local stored, open_shutdown
  stored, open_shutdown, sequence, bound =
    unpack(redis.call('HMGET', keys.team, 'team', 'shutdown', 'sequence', agent_field(request.user_id, request.agent_id)))
  if not stored then
    return refuse('NO_TEAM', team_name)
  end
  team, shutdown, sequence = cjson.decode(stored), open_shutdown and cjson.decode(open_shutdown), tonumber(sequence or 0)
end

-- Loads the team and the caller, who is seen now unless somebody else calls for it; nil, or the refusal.
local function enter(writes, for_another)
  local refusal = load_team()
  if refusal then
    return refusal
  end
  if not bound then
    return refuse('NOT_A_MEMBER', request.agent_id ~= '' and request.agent_id or request.user_id, team.name)
  end
  local is_superseded = string.sub(bound, 1, 1) == '!'
  member = load_member(is_superseded and string.sub(bound, 2) or bound)
  if is_superseded then
    return refuse('SUPERSEDED', member.handle, member.agent or '')
  end
  if not for_another then
    redis.pcall('HSET', keys.seen, bound, string.format('%.0f', now_ms))
  end
  if writes and team.closed then
    return refuse('TEAM_CLOSED', team.name)
  end
end

local function is_leader()
  return string.lower(team.leader) == string.lower(member.handle)
end
