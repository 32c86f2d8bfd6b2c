-- Changes of the status of an intent, with their line of the ledger and their event. Needs: request.
-- @include intents/records
-- @include ledger/append
-- @include events/emit

-- Emits what the caller has done with the intent `id`.
local function emit_about(kind, id, event)
  event.type, event.intent_id, event.time_ms = kind, id, now_ms
  event.user, event.user_name = request.user_id, request.user_name
  event.agent_id = request.agent_id ~= '' and request.agent_id or nil
  emit(event)
end

-- Appends a line about a change of the intent `id`. `state`: of the caller, before; `reasoning`: what changed, and why.
local function append_change(id, state, reasoning, summary, origin)
  append_line(id, state, 'STATE_TRANSITION', '{"reasoning":' .. json_text(reasoning) .. '}',
    '{"status":"SUCCESS","output_summary":' .. json_text(summary) .. '}', origin)
end

-- Gives an intent another status. `reason`: why, or ''.
local function change_status(id, record, status, reason, state, origin)
  local previous = record.status
  record.status, record.reason, record.updated_ms = status, reason ~= '' and reason or nil, now_ms
  record.reason_by = record.reason and request.user_id or nil
  save_record(id, record)
  append_change(id, state, previous .. ' to ' .. status .. (reason ~= '' and ': ' .. reason or ''), status, origin)
  emit_about('intent_changed', id, { status = status, previous = previous, reason = record.reason })
end
