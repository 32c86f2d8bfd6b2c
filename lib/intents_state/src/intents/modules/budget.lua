-- The budget of an intent, and the breaker of its holder: whether one more tool call is allowed, and its cost. A call has a
-- `name`, and a `digest` of name and input: '' for a request that is not a tool call, which counts as no turn.
local Append = require('ledger/append')
local Records = require('intents/records')
local Status = require('intents/status')

local Budget = {}

-- Nil if the call is allowed, or { code, reason, name }: BUDGET_EXHAUSTED or CIRCUIT_OPEN; a sentence. `most_repeats`:
-- identical calls in a row that are allowed, 0 for any number. Changes nothing.
function Budget.limit_met(call, id, record, tool_call, most_repeats)
  local _, tokens = Records.use_of(call, id)
  local turns = Records.turns_of_caller(call, id, record)
  local is_call = tool_call.digest ~= ''
  local function limit(code, reason, ...)
    return { code = code, reason = string.format(reason, ...), name = tool_call.name }
  end
  if is_call and record.max_turns and turns >= record.max_turns then
    return limit('BUDGET_EXHAUSTED', 'The budget of intent %s is spent: %.0f of %.0f turns', id, turns, record.max_turns)
  elseif record.max_tokens and tokens >= record.max_tokens then
    return limit('BUDGET_EXHAUSTED', 'The budget of intent %s is spent: %.0f of %.0f tokens', id, tokens, record.max_tokens)
  elseif is_call and most_repeats > 0 and call.session.call == tool_call.digest and call.session.repeats >= most_repeats then
    return limit(
      'CIRCUIT_OPEN',
      '%s was called %.0f times in a row with the same input, and nothing else between',
      tool_call.name,
      call.session.repeats
    )
  end
end

-- Blocks the intent because `limit` was met: lines, record and event. The script saves the caller's session.
function Budget.block_at(call, limit, id, record, origin)
  local payload = limit.name ~= '' and '{"tool_name":' .. Append.json_text(limit.name) .. '}' or '{}'
  Append.append_line(
    call,
    id,
    call.session.state,
    'BUDGET_EXHAUSTED',
    payload,
    '{"status":"DENIED","output_summary":"' .. limit.code .. '","error_message":' .. Append.json_text(limit.reason) .. '}',
    origin
  )
  -- A limit that a different login reached refuses its call, but does not stop the owner.
  if Records.belongs_to_caller(call, record) then
    Status.change_status(call, id, record, 'BLOCKED', limit.reason, call.session.state, origin)
  end
  -- Once a person resumes the intent, the breaker starts over.
  call.session.call, call.session.repeats = nil, nil
end

-- Counts an allowed tool call, which shows that its holder is active. The script saves the caller's session.
function Budget.count_call(call, id, tool_call)
  local turns, tokens, other_turns = Records.use_of(call, id)
  if tool_call.digest ~= '' then
    call.session.repeats = call.session.call == tool_call.digest and call.session.repeats + 1 or 1
    call.session.call = tool_call.digest
    if Records.belongs_to_caller(call, Records.of(call, id)) then
      turns = turns + 1
    else
      other_turns = other_turns + 1
    end
  end
  Records.save_use(call, id, turns, tokens, other_turns)
end

return Budget
