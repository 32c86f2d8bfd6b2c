-- The handshake of a shutdown.
-- An open shutdown is JSON: `id`; `target`: a handle in lower case, or '*' for the team; `by` and `login`: handle and login of the
-- author; `reason`; `requested` and `respond_by` (Unix milliseconds); `answers`: handle in lower case -> 'approved' or 'rejected';
-- `is_mild`: members of logins other than the author's may claim tasks until they approve.
local Deliver = require('mail/deliver')
local Emit = require('events/emit')
local TaskRelease = require('departures/task_release')
local Members = require('departures/members')
local Team = require('teams/team')
local TeamChanges = require('teams/changes')

local Shutdown = {}

function Shutdown.emit_shutdown(call, state, handle)
  -- A member that has left is not among the members, but it may be the caller.
  local target = call.shutdown.target == string.lower(call.member.handle) and call.member or call.members[call.shutdown.target]
  Emit.event(call, {
    type = 'shutdown_changed',
    team = call.team.name,
    shutdown = call.shutdown.id,
    state = state,
    handle = handle,
    target = target and target.handle,
    user = call.request.user_id,
  })
end

-- Writes the open shutdown, which any answer may include: see keys.members.
local function save_shutdown(call)
  redis.call('HSET', call.keys.team, 'shutdown', cjson.encode(call.shutdown))
  redis.call('HSET', call.keys.members, call.team_key .. '/!', Team.shutdown_text(call))
end

-- A member that is asked may not claim a task before it has answered. So a login could keep the members of other logins from their tasks
-- by repeating a request that they reject. Therefore, for ten minutes after such a rejection, a request of the same login is mild: members
-- that are asked may still claim tasks. A request of the leader never is.
-- The field `rejected` of keys.team is JSON: login of the author -> time of the rejection (Unix milliseconds).
local REJECTED_FOR_MS = 600000

function Shutdown.rejections(call)
  local rejected_at = {}
  for login, time in pairs(cjson.decode(redis.call('HGET', call.keys.team, 'rejected') or '{}')) do
    rejected_at[login] = math.abs(call.now_ms - time) < REJECTED_FOR_MS and time or nil
  end
  return rejected_at
end

function Shutdown.note_rejection(call)
  if call.member.login ~= call.shutdown.login then
    local rejected_at = Shutdown.rejections(call)
    rejected_at[call.shutdown.login] = call.now_ms
    redis.call('HSET', call.keys.team, 'rejected', cjson.encode(rejected_at))
  end
end

function Shutdown.end_shutdown(call, state)
  redis.call('HDEL', call.keys.team, 'shutdown')
  redis.call('HDEL', call.keys.members, call.team_key .. '/!')
  for key in pairs(call.shutdown.answers) do
    redis.call('HDEL', call.keys.members, call.team_key .. '/!' .. key)
  end
  Shutdown.emit_shutdown(call, state, call.member.handle)
  call.shutdown = nil
end

function Shutdown.note_answer(call, key, answer)
  call.shutdown.answers[key] = answer
  redis.call('HSET', call.keys.members, call.team_key .. '/!' .. key, answer)
end

-- Notifies a member of the caller's answer; returns the handles that were not notified because their inboxes are full, nil for none.
function Shutdown.notify(call, handle, kind, text)
  if not Team.load_member(call, handle) or string.lower(handle) == string.lower(call.member.handle) then
    return nil
  end
  local sequence = Deliver.deliver(call, { handle }, {
    from = call.member.handle,
    login = call.member.login,
    to = handle,
    kind = kind,
    message = text,
  }, Deliver.MAX_UNREAD_FROM_COORD)
  return not sequence and { handle } or nil
end

-- Stops the member for good; returns the ids of the tasks that it released.
function Shutdown.stop_member(call, key, text)
  local record = call.members[key]
  local ids = TaskRelease.release(call, record, text)
  record.ended = call.now_ms
  Team.save_member(call, record)
  Shutdown.note_answer(call, key, 'approved')
  return ids
end

function Shutdown.close_team(call)
  call.team.closed = call.now_ms
  TeamChanges.save_team(call, tonumber(redis.call('HGET', call.keys.team, 'members')))
  Shutdown.end_shutdown(call, 'closed')
  TeamChanges.emit_team(call, 'closed', call.member.handle)
end

-- Closes the team, or ends the shutdown, if all members have answered; else writes it. Returns CLOSED, STOPPED, REJECTED or OPEN.
function Shutdown.settle_shutdown(call)
  if call.shutdown.target ~= '*' then
    local answer = call.shutdown.answers[call.shutdown.target]
    if answer or not call.members[call.shutdown.target] then
      Shutdown.end_shutdown(call, answer or 'approved')
      return answer == 'rejected' and 'REJECTED' or 'STOPPED'
    end
    save_shutdown(call)
    return 'OPEN'
  end
  local is_rejected, is_waiting = false, false
  for key in pairs(call.members) do
    local answer = call.shutdown.answers[key]
    -- The shutdown does not wait for stopped members: their approval was final. But a team does not close without its leader while
    -- the leader is live, even if it approved an earlier shutdown that others rejected.
    local is_needed = not call.members[key].ended or Members.is_live(call, key)
    if key ~= string.lower(call.team.leader) then
      is_needed = not call.members[key].ended and Members.is_live(call, key)
    end
    is_rejected = is_rejected or answer == 'rejected'
    is_waiting = is_waiting or (is_needed and not answer)
  end
  if is_waiting then
    save_shutdown(call)
    return 'OPEN'
  end
  if is_rejected then
    Shutdown.end_shutdown(call, 'rejected')
    return 'REJECTED'
  end
  Shutdown.close_team(call)
  return 'CLOSED'
end

return Shutdown
