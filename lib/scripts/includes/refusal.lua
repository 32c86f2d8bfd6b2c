-- Announces that the caller was refused. Needs: branch, user_id, user_name, agent_id, event_about, names_of, emit.
local function emit_refusal(status, message, files, reason, conflicts)
  local event = event_about('lock_refused', {
    user_id = user_id,
    user_name = user_name,
    agent_id = agent_id ~= '' and agent_id or nil,
    branch = branch,
    status = status,
    message = message,
  })
  event.files, event.file_count = names_of(files), #files
  event.reason = reason
  if conflicts then
    event.conflicts, event.conflict_count = names_of(conflicts), #conflicts
  end
  emit(event)
end
