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

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)
  Entries.begin(call)
  Held.begin(call)

  -- How many members the caller's login has.
  local function count_own_members()
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

  local denial = Admission.admit(call) or Team.load_team(call)
  if denial then
    return denial
  end
  if call.team.closed then
    return Team.refuse(call, 'TEAM_CLOSED', { team = call.team.name })
  end
  local MAX_MEMBERS, MAX_PER_LOGIN, MAX_BEFORE = 1000, 200, 8
  local handle = call.request.member.handle
  local field = MemberFields.agent_field(call.request.user_id, call.request.agent_id)
  local member_count = redis.call('HGET', call.keys.team, 'members')
  if call.bound and string.sub(call.bound, 1, 1) ~= '!' then
    local current = Team.load_member(call, call.bound)
    if current.ended and call.bound == string.lower(handle) then
      -- It can work again once the shutdown that it approved has ended: see refuse_claim() of tasks/hold.
      current.ended = nil
      Team.save_member(call, current)
      call.member = current
      TeamChanges.emit_team(call, 'joined', current.handle)
      return Team.reply(call, 'JOINED', { handle = current.handle })
    end
    return Team.refuse(call, 'ALREADY_MEMBER', { handle = current.handle, team = call.team.name })
  end
  local current = Team.load_member(call, handle)
  if not current then
    if tonumber(member_count) >= MAX_MEMBERS then
      return Team.refuse(call, 'TOO_MANY', { what = 'members', most = MAX_MEMBERS })
    elseif tonumber(member_count) >= MAX_PER_LOGIN and count_own_members() >= MAX_PER_LOGIN then
      return Team.refuse(call, 'TOO_MANY', { what = 'members of one login', most = MAX_PER_LOGIN })
    end
    NewMember.add_member(call)
    TeamChanges.save_team(call, member_count + 1)
    TeamChanges.emit_team(call, 'joined', handle)
    return Team.reply(call, 'JOINED', { handle = handle })
  end
  if current.login ~= call.request.user_id then
    return Team.refuse(call, 'HANDLE_TAKEN', { handle = current.handle, team = call.team.name })
  end
  local old_agent = current.agent or ''
  redis.call('HSET', call.keys.team, MemberFields.agent_field(current.login, old_agent), '!' .. string.lower(handle))
  redis.call('HSET', call.keys.team, field, string.lower(handle))
  TeamChanges.bind(call, current.login, old_agent, nil)
  TeamChanges.bind(call, current.login, call.request.agent_id, current.handle)
  local agents_before = {}
  for _, agent in ipairs(current.before or {}) do
    if agent ~= call.request.agent_id and agent ~= old_agent then
      agents_before[#agents_before + 1] = agent
    end
  end
  agents_before[#agents_before + 1] = old_agent
  while #agents_before > MAX_BEFORE do
    redis.call('HDEL', call.keys.team, MemberFields.agent_field(current.login, table.remove(agents_before, 1)))
  end
  current.before, current.ended = agents_before, nil
  current.agent = call.request.agent_id ~= '' and call.request.agent_id or nil
  current.name, current.kind = call.request.member.name, call.request.member.kind
  Team.save_member(call, current)
  call.member = current
  local taken_over = {}
  for id in string.gmatch(current.claims, '%S+') do
    local task = Task.load_task(call, id)
    if task and task.locked and task.files and Task.is_owned_by(call, task, current) then
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
  redis.pcall('HSET', call.keys.seen, string.lower(handle), string.format('%.0f', call.now_ms))
  TeamChanges.emit_team(call, 'taken_over', current.handle)
  return Team.reply(call, 'TAKEN_OVER', { handle = current.handle, from = old_agent })
end
