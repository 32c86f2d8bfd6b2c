-- Changes of the status of an intent, with their line of the ledger and their event.
local Append = require('ledger/append')
local Emit = require('events/emit')
local Records = require('intents/records')

local Status = {}

-- Emits an event about the caller's action on the intent `id`.
function Status.emit_about(call, kind, id, event)
  event.type, event.intent_id, event.time_ms = kind, id, call.now_ms
  event.user, event.user_name = call.request.user_id, call.request.user_name
  event.agent_id = call.request.agent_id ~= '' and call.request.agent_id or nil
  Emit.event(call, event)
end

-- Appends a line about a change of the intent `id`. `state`: of the caller, before; `reasoning`: the change, and its
-- reason.
function Status.append_change(call, id, state, reasoning, summary, origin)
  Append.append_line(
    call,
    id,
    state,
    'STATE_TRANSITION',
    '{"reasoning":' .. Append.json_text(reasoning) .. '}',
    '{"status":"SUCCESS","output_summary":' .. Append.json_text(summary) .. '}',
    origin
  )
end

-- Changes the status of an intent. `reason`: why, or ''.
function Status.change_status(call, id, record, status, reason, state, origin)
  local previous = record.status
  record.status, record.reason, record.updated_ms = status, reason ~= '' and reason or nil, call.now_ms
  record.reason_by = record.reason and call.request.user_id or nil
  Records.save_record(call, id, record)
  Status.append_change(call, id, state, previous .. ' to ' .. status .. (reason ~= '' and ': ' .. reason or ''), status, origin)
  Status.emit_about(call, 'intent_changed', id, { status = status, previous = previous, reason = record.reason })
end

return Status
