-- Announces a refusal. The same refusal of the same request is logged once in REFUSAL_SECONDS, with the number of
-- repetitions since. `refusals` is a hash of a request's digest -> time of its log entry, and number of refusals since. It
-- is deleted when it has become large. Needs: request, keys.refusals.
-- @include locks/changes

-- Returns whether it was logged. `code` and `intent`, or '': of a refusal by intents.
local function emit_refusal(status, message, files, reason, conflicts, code, intent)
  local REFUSAL_SECONDS, MOST_REFUSALS, REFUSALS_FOR = 60, 1000, 3600
  local user_id, agent_id, branch = request.user_id, request.agent_id, request.branch
  local told = { user_id, agent_id, branch, status, reason .. (code or ''), intent or '', message, table.concat(files, '\n') }
  local digest = redis.sha1hex(table.concat(told, '\n'))
  local noted = redis.call('HGET', keys.refusals, digest)
  local logged_at, repeated = string.match(noted or '0 0', '^(%d+) (%d+)$')
  if math.abs(now - logged_at) < REFUSAL_SECONDS then
    redis.call('HSET', keys.refusals, digest, logged_at .. ' ' .. repeated + 1)
    return false
  end
  if not noted and redis.call('HLEN', keys.refusals) >= MOST_REFUSALS then
    redis.call('DEL', keys.refusals)
  end
  redis.call('HSET', keys.refusals, digest, now .. ' 0')
  redis.call('EXPIRE', keys.refusals, REFUSALS_FOR)

  local event = event_about('lock_refused', {
    user_id = user_id,
    user_name = request.user_name,
    agent_id = agent_id ~= '' and agent_id or nil,
    branch = branch,
    status = status,
    message = message,
  })
  event.files, event.file_count = names_of(files), #files
  event.reason, event.code, event.intent_id = reason, code, intent ~= '' and intent or nil
  event.repeated = tonumber(repeated) > 0 and tonumber(repeated) or nil
  if conflicts then
    event.conflicts, event.conflict_count = names_of(conflicts), #conflicts
  end
  emit(event)
  return true
end
