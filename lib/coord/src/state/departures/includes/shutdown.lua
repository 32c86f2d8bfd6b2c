-- The handshake of a shutdown. Needs: team.
-- An open shutdown is JSON: `id`; `target`: a handle in lower case, or '*' for the team; `by` and `login`: handle and login of the
-- author; `reason`; `requested` and `respond_by` (Unix milliseconds); `answers`: handle in lower case -> 'approved' or 'rejected';
-- `is_mild`, where members of other logins than the author's get tasks until they approve.
-- @include departures/members
-- @include departures/give_back
-- @include teams/changes
-- @include mail/deliver

local function emit_shutdown(state, handle)
  -- Who leaves is no member any more.
  local target = shutdown.target == string.lower(member.handle) and member or members[shutdown.target]
  emit({
    type = 'shutdown_changed', team = team.name, shutdown = shutdown.id, state = state, handle = handle,
    target = target and target.handle, user = request.user_id,
  })
end

-- Writes the open shutdown, of which any answer can tell: see keys.members.
local function save_shutdown()
  redis.call('HSET', keys.team, 'shutdown', cjson.encode(shutdown))
  redis.call('HSET', keys.members, team_key .. '/!', shutdown_text())
end

-- A member that is asked gets no task before it has answered. So a login whose request was rejected by a member of another login could ask
-- again and again to keep the others from their tasks: for ten minutes its requests are mild. The leader's never are. The field
-- `rejected` of keys.team is JSON: login of the author -> when that was (Unix milliseconds).
local REJECTED_FOR_MS = 600000

local function rejections()
  local found = {}
  for login, time in pairs(cjson.decode(redis.call('HGET', keys.team, 'rejected') or '{}')) do
    found[login] = math.abs(now_ms - time) < REJECTED_FOR_MS and time or nil
  end
  return found
end

local function note_rejection()
  if member.login ~= shutdown.login then
    local found = rejections()
    found[shutdown.login] = now_ms
    redis.call('HSET', keys.team, 'rejected', cjson.encode(found))
  end
end

local function end_shutdown(state)
  redis.call('HDEL', keys.team, 'shutdown')
  redis.call('HDEL', keys.members, team_key .. '/!')
  for key in pairs(shutdown.answers) do
    redis.call('HDEL', keys.members, team_key .. '/!' .. key)
  end
  emit_shutdown(state, member.handle)
  shutdown = nil
end

local function note_answer(key, answer)
  shutdown.answers[key] = answer
  redis.call('HSET', keys.members, team_key .. '/!' .. key, answer)
end

-- Tells a member what the caller has answered; returns the handles that were not told because there is no room for it.
local function tell(handle, kind, text)
  if not load_member(handle) or string.lower(handle) == string.lower(member.handle) then
    return {}
  end
  local sent = deliver({ handle }, {
    from = member.handle, login = member.login, to = handle, kind = kind, message = text,
  }, MOST_UNREAD_OF_COORD)
  return sent and {} or { handle }
end

-- The member stops for good; returns the tasks that it gave back.
local function stop_member(key, text)
  local record = members[key]
  local ids = give_back(record, text)
  record.ended = now_ms
  save_member(record)
  note_answer(key, 'approved')
  return ids
end

local function close_team()
  team.closed = now_ms
  save_team(tonumber(redis.call('HGET', keys.team, 'members')))
  end_shutdown('closed')
  emit_team('closed', member.handle)
end

-- Closes the team, or ends the shutdown, if all answers are there; else writes it. Returns CLOSED, STOPPED, REJECTED or OPEN.
local function settle_shutdown()
  if shutdown.target ~= '*' then
    local answer = shutdown.answers[shutdown.target]
    if answer or not members[shutdown.target] then
      end_shutdown(answer or 'approved')
      return answer == 'rejected' and 'REJECTED' or 'STOPPED'
    end
    save_shutdown()
    return 'OPEN'
  end
  local is_rejected, is_waiting = false, false
  for key in pairs(members) do
    local answer = shutdown.answers[key]
    -- Who has stopped is not waited for: its approval was final. But a team does not close without its leader while that is live,
    -- which may have approved an earlier shutdown that others rejected.
    local is_needed = not members[key].ended or is_live(key)
    if key ~= string.lower(team.leader) then
      is_needed = not members[key].ended and is_live(key)
    end
    is_rejected = is_rejected or answer == 'rejected'
    is_waiting = is_waiting or (is_needed and not answer)
  end
  if is_waiting then
    save_shutdown()
    return 'OPEN'
  end
  if is_rejected then
    end_shutdown('rejected')
    return 'REJECTED'
  end
  close_team()
  return 'CLOSED'
end
