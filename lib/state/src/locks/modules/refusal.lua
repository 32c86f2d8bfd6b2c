-- Announces a refusal. The same refusal of the same request is logged once a minute, with the number of repetitions since.
local Emit = require('events/emit')
local FirstRefusal = require('events/first_refusal')
local LockChanges = require('locks/changes')

local Refusal = {}

-- Returns whether it was logged. `code` and `intent`, or '': of a refusal by intents.
function Refusal.emit(call, status, message, files, reason, conflicts, code, intent)
  local user_id, agent_id, branch = call.request.user_id, call.request.agent_id, call.request.branch
  local parts = { user_id, agent_id, branch, status, reason .. (code or ''), intent or '', message, table.concat(files, '\n') }
  local repeated = FirstRefusal.count(call, parts)
  if not repeated then
    return false
  end
  local event = LockChanges.event_about(call, 'lock_refused', {
    user_id = user_id,
    user_name = call.request.user_name,
    agent_id = agent_id ~= '' and agent_id or nil,
    branch = branch,
    status = status,
    message = message,
  })
  event.files, event.file_count = Emit.names_of(files), #files
  event.reason, event.code, event.intent_id = reason, code, intent ~= '' and intent or nil
  event.repeated = repeated > 0 and repeated or nil
  if conflicts then
    event.conflicts, event.conflict_count = Emit.names_of(conflicts), #conflicts
  end
  Emit.event(call, event)
  return true
end

return Refusal
