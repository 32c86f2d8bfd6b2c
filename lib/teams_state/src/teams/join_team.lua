-- join_team: makes the caller a member under a handle; or, for a handle of the caller's login, gives it to this agent, with the locks
-- on files of the tasks that the handle has claimed. If there are very many locks, those of later tasks follow with a call about those.
-- KEYS: those of admission/request, of a team (`team_keys.rs`)
-- The request has the fields of teams/team and teams/new_member.
-- Returns Team.reply(): JOINED, `handle`; TAKEN_OVER, `handle` and `from`: the previous agent, '' for one without an id; or REFUSED; or one
-- of the denials of Admission.admit()
local Admission = require('admission/admission')
local Entries = require('locks/entries')
local FileLocks = require('tasks/file_locks')
local Held = require('locks/held')
local MemberFields = require('teams/member_fields')
local NewMember = require('teams/new_member')
local Task = require('tasks/task')
local Team = require('teams/team')
local TeamChanges = require('teams/changes')

-- How many members the caller's login has.
local function count_own_members(call)
  -- Decoding all members would take too long. No other text of a member can contain this: its quotes are escaped.
  local of_login, count = '"login":' .. cjson.encode(call.request.user_id), 0
  local stored = redis.call('HGETALL', call.keys.team)
  for index = 1, #stored, 2 do
    if string.sub(stored[index], 1, 1) == '=' and string.find(stored[index + 1], of_login, 1, true) then
      count = count + 1
    end
  end
  return count
end

-- The reply to an agent that is a member.
local function join_again(call, handle)
  local member = Team.load_member(call, call.bound)
  if not member.ended or call.bound ~= string.lower(handle) then
    return Team.refuse(call, 'ALREADY_MEMBER', { handle = member.handle, team = call.team.name })
  end
  -- It can work again once the shutdown that it approved has ended: see refuse_claim() of tasks/hold.
  member.ended = nil
  Team.save_member(call, member)
  call.member = member
  TeamChanges.emit_team(call, 'joined', member.handle)
  return Team.reply(call, 'JOINED', { handle = member.handle })
end

-- The reply to an agent that wants a free handle.
local function join(call, handle, member_count)
  local MAX_MEMBERS, MAX_PER_LOGIN = 1000, 200
  if member_count >= MAX_MEMBERS then
    return Team.refuse(call, 'TOO_MANY', { what = 'members', most = MAX_MEMBERS })
  elseif member_count >= MAX_PER_LOGIN and count_own_members(call) >= MAX_PER_LOGIN then
    return Team.refuse(call, 'TOO_MANY', { what = 'members of one login', most = MAX_PER_LOGIN })
  end
  NewMember.add_member(call)
  TeamChanges.save_team(call, member_count + 1)
  TeamChanges.emit_team(call, 'joined', handle)
  return Team.reply(call, 'JOINED', { handle = handle })
end

-- Gives the member's handle to the caller's agent, and forgets the oldest of the agents that had it before.
local function change_agent(call, member, old_agent)
  local MAX_BEFORE = 8
  local agent, key, before = call.request.agent_id, string.lower(call.request.member.handle), {}
  redis.call('HSET', call.keys.team, MemberFields.agent_field(member.login, old_agent), '!' .. key)
  redis.call('HSET', call.keys.team, MemberFields.agent_field(member.login, agent), key)
  TeamChanges.bind(call, member.login, old_agent, nil)
  TeamChanges.bind(call, member.login, agent, member.handle)
  for _, earlier in ipairs(member.before or {}) do
    if earlier ~= agent and earlier ~= old_agent then
      before[#before + 1] = earlier
    end
  end
  before[#before + 1] = old_agent
  while #before > MAX_BEFORE do
    redis.call('HDEL', call.keys.team, MemberFields.agent_field(member.login, table.remove(before, 1)))
  end
  member.before, member.ended = before, nil
  member.agent = agent ~= '' and agent or nil
  member.name, member.kind = call.request.member.name, call.request.member.kind
  Team.save_member(call, member)
end

-- Gives the locks on files of the member's tasks to the caller's agent.
local function take_over_locks(call, member, old_agent)
  local taken_over = {}
  for id in string.gmatch(member.claims, '%S+') do
    local task = Task.load_task(call, id)
    if task and task.locked and task.files and Task.is_owned_by(call, task, member) then
      local locks = FileLocks.locks_of(call, id, task, old_agent)
      if not locks then
        break
      end
      for _, entry in ipairs(locks) do
        taken_over[#taken_over + 1] = call.is_changed[entry.file_path] and entry or nil
      end
    end
  end
  FileLocks.save_renewed(call, taken_over)
end

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)
  Entries.begin(call)
  Held.begin(call)

  local denial = Admission.admit(call) or Team.load_team(call)
  if denial then
    return denial
  end
  if call.team.closed then
    return Team.refuse(call, 'TEAM_CLOSED', { team = call.team.name })
  end
  local handle = call.request.member.handle
  local member_count = tonumber(redis.call('HGET', call.keys.team, 'members'))
  if call.bound and string.sub(call.bound, 1, 1) ~= '!' then
    return join_again(call, handle)
  end
  local member = Team.load_member(call, handle)
  if not member then
    return join(call, handle, member_count)
  end
  if member.login ~= call.request.user_id then
    return Team.refuse(call, 'HANDLE_TAKEN', { handle = member.handle, team = call.team.name })
  end
  local old_agent = member.agent or ''
  change_agent(call, member, old_agent)
  call.member = member
  take_over_locks(call, member, old_agent)
  redis.pcall('HSET', call.keys.seen, string.lower(handle), string.format('%.0f', call.now_ms))
  TeamChanges.emit_team(call, 'taken_over', member.handle)
  return Team.reply(call, 'TAKEN_OVER', { handle = member.handle, from = old_agent })
end
