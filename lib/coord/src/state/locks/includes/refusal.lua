-- Announces a refusal. The same refusal of the same request is logged once a minute, with the number of repetitions since.
-- Needs: request.
-- @include events/first_refusal
-- @include locks/changes

-- Returns whether it was logged. `code` and `intent`, or '': of a refusal by intents.
local function emit_refusal(status, message, files, reason, conflicts, code, intent)
  local user_id, agent_id, branch = request.user_id, request.agent_id, request.branch
  local told = { user_id, agent_id, branch, status, reason .. (code or ''), intent or '', message, table.concat(files, '\n') }
  local repeated = first_refusal(told)
  if not repeated then
    return false
  end
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
  event.repeated = repeated > 0 and repeated or nil
  if conflicts then
    event.conflicts, event.conflict_count = names_of(conflicts), #conflicts
  end
  emit(event)
  return true
end
