-- join_team: makes the caller a member under a handle; or, for a handle of the caller's login, gives it to this agent, with the locks
-- on files of the tasks that the handle has. Where there are very many locks, those of later tasks follow with a call about these.
-- KEYS: those of admission, then those of teams/team
-- ARGV: those of admission/request and teams/team, then 19 handle, 20 name and 21 kind of the agent
-- Returns { JOINED, now, handle } or { TAKEN_OVER, now, handle, the agent before or '' }
--      or { REFUSED, now, code, words } or one of the denials of admit()
local handle, name, kind = unpack(ARGV, 19, 21)
-- @include admission/admission
-- @include teams/team
-- @include teams/new_member
-- @include tasks/task
-- @include tasks/file_locks

-- How many members are of the caller's login.
local function own_members()
  -- To decode all takes too long. No other text of a member can contain this: its quotes are escaped.
  local of_login, count = '"login":' .. cjson.encode(request.user_id), 0
  local stored = redis.call('HGETALL', keys.team)
  for index = 1, #stored, 2 do
    if string.sub(stored[index], 1, 1) == '=' and string.find(stored[index + 1], of_login, 1, true) then
      count = count + 1
    end
  end
  return count
end

local denial = admit() or load_team()
if denial then
  return denial
end
if team.closed then
  return refuse('TEAM_CLOSED', team.name)
end
local MOST_MEMBERS, MOST_OF_LOGIN, MOST_BEFORE = 1000, 200, 8
local field = agent_field(request.user_id, request.agent_id)
local member_count = redis.call('HGET', keys.team, 'members')
if bound and string.sub(bound, 1, 1) ~= '!' then
  local current = load_member(bound)
  if current.ended and bound == string.lower(handle) then
    -- It works on, once the shutdown that it approved is over: see may_claim() of tasks/hold.
    current.ended = nil
    save_member(current)
    member = current
    emit_team('joined', current.handle)
    return told({ 'JOINED', now, current.handle })
  end
  return refuse('ALREADY_MEMBER', current.handle, team.name)
end
local current = load_member(handle)
if not current then
  if tonumber(member_count) >= MOST_MEMBERS then
    return refuse('TOO_MANY', 'members', MOST_MEMBERS)
  elseif tonumber(member_count) >= MOST_OF_LOGIN and own_members() >= MOST_OF_LOGIN then
    return refuse('TOO_MANY', 'members of one login', MOST_OF_LOGIN)
  end
  add_member(handle, name, kind)
  save_team(member_count + 1)
  emit_team('joined', handle)
  return told({ 'JOINED', now, handle })
end
if current.login ~= request.user_id then
  return refuse('HANDLE_TAKEN', current.handle, team.name)
end
local old = current.agent or ''
redis.call('HSET', keys.team, agent_field(current.login, old), '!' .. string.lower(handle))
redis.call('HSET', keys.team, field, string.lower(handle))
bind(current.login, old, nil)
bind(current.login, request.agent_id, current.handle)
local before = {}
for _, agent in ipairs(current.before or {}) do
  if agent ~= request.agent_id and agent ~= old then
    before[#before + 1] = agent
  end
end
before[#before + 1] = old
while #before > MOST_BEFORE do
  redis.call('HDEL', keys.team, agent_field(current.login, table.remove(before, 1)))
end
current.before, current.ended = before, nil
current.agent = request.agent_id ~= '' and request.agent_id or nil
current.name, current.kind = name, kind
save_member(current)
member = current
local taken = {}
for id in string.gmatch(current.claims, '%S+') do
  local task = load_task(id)
  if task and task.locked and task.files and is_owned_by(task, current) then
    local locks = locks_of(id, task, old)
    if not locks then
      break
    end
    for _, entry in ipairs(locks) do
      taken[#taken + 1] = is_changed[entry.file_path] and entry or nil
    end
  end
end
save_renewed(taken)
redis.pcall('HSET', keys.seen, string.lower(handle), string.format('%.0f', now_ms))
emit_team('taken_over', current.handle)
return told({ 'TAKEN_OVER', now, current.handle, old })
