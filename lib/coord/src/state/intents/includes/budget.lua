-- The budget of an intent, and the breaker of its holder: whether one more tool call is let in, and what it counts. A call has a
-- `name`, and a `digest` of name and input: '' for a request that is no tool call, which counts as no turn. Needs: request,
-- keys.sessions, and the session is loaded.
-- @include intents/status
-- @include intents/session

-- Nil where the call may be let in, or { code, reason, name }: BUDGET_EXHAUSTED or CIRCUIT_OPEN; a sentence. `most_repeats`:
-- identical calls in a row that are let in, 0 for any number. Changes nothing.
local function limit_met(id, record, call, most_repeats)
  local _, tokens = use_of(id)
  local turns = turns_of_caller(id, record)
  local is_call = call.digest ~= ''
  local function limit(code, reason, ...)
    return { code = code, reason = string.format(reason, ...), name = call.name }
  end
  if is_call and record.max_turns and turns >= record.max_turns then
    return limit('BUDGET_EXHAUSTED', 'The budget of intent %s is spent: %.0f of %.0f turns', id, turns, record.max_turns)
  elseif record.max_tokens and tokens >= record.max_tokens then
    return limit('BUDGET_EXHAUSTED', 'The budget of intent %s is spent: %.0f of %.0f tokens', id, tokens, record.max_tokens)
  elseif is_call and most_repeats > 0 and session.call == call.digest and session.repeats >= most_repeats then
    return limit('CIRCUIT_OPEN', '%s was called %.0f times in a row with the same input, and nothing else between', call.name,
      session.repeats)
  end
end

-- Blocks the intent because `limit` was met: lines, record and event. The caller's session is saved by the script.
local function block_at(limit, id, record, origin)
  local payload = limit.name ~= '' and '{"tool_name":' .. json_text(limit.name) .. '}' or '{}'
  append_line(id, session.state, 'BUDGET_EXHAUSTED', payload, '{"status":"DENIED","output_summary":"' .. limit.code
    .. '","error_message":' .. json_text(limit.reason) .. '}', origin)
  -- A limit that another login has reached refuses its call, and stops nobody else.
  if is_callers(record) then
    change_status(id, record, 'BLOCKED', limit.reason, session.state, origin)
  end
  -- A person lets it go on: the breaker begins anew.
  session.call, session.repeats = nil, nil
end

-- Counts a call that was let in, and that a holder was heard of. The caller's session is saved by the script.
local function count_call(id, call)
  local turns, tokens, others = use_of(id)
  if call.digest ~= '' then
    session.repeats = session.call == call.digest and session.repeats + 1 or 1
    session.call = call.digest
    if is_callers(record_of(id)) then
      turns = turns + 1
    else
      others = others + 1
    end
  end
  save_use(id, turns, tokens, others)
end
