-- use_intent: counts the cost of the work on an intent: tokens, by the running total of a session; a tool call as a turn.
-- KEYS, ARGV: those of admission/request, with `id`, `call`: `name` of the tool and `digest` of the call, absent for none, `most_repeats`:
-- identical calls in a row that are allowed, `tokens`: the `session` that used them and its running `total`, absent for none, and `origin`
-- of lines
-- Returns { outcome, now, answer }, each with the `state` of the caller: USED with `turns`, `tokens` as text, `max_turns`,
--           `max_tokens`
--      or NOT_ACTIVE with its `status`: the call is refused; tokens are counted
--      or STOPPED with `limit`, BUDGET_EXHAUSTED or CIRCUIT_OPEN, and `reason`: the call is refused, and the intent is blocked now; tokens
--           are counted
--      or { UNKNOWN, now }: there is no such intent; nothing is changed
--      or one of the denials of Admission.admit(); nothing is changed
local Admission = require('admission/admission')
local Answer = require('answer')
local Append = require('ledger/append')
local Budget = require('intents/budget')
local Records = require('intents/records')
local Session = require('intents/session')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  local id, tool_call, used = call.request.id, call.request.call, call.request.tokens
  Records.begin(call)
  Append.begin(call)

  -- The tokens that the session has used since its last report. Reports may arrive twice, and in any order.
  local function new_tokens()
    local MAX_SESSIONS = 16
    call.session.tokens, call.session.order = call.session.tokens or {}, call.session.order or {}
    local before = call.session.tokens[used.session]
    if not before then
      table.insert(call.session.order, used.session)
      if #call.session.order > MAX_SESSIONS then
        call.session.tokens[table.remove(call.session.order, 1)] = nil
      end
    end
    call.session.tokens[used.session] = math.max(before or 0, used.total)
    return call.session.tokens[used.session] - (before or 0)
  end

  local denial = Admission.admit(call)
  if denial then
    return denial
  end
  local record = Records.of(call, id)
  if not record then
    return { 'UNKNOWN', call.now }
  end
  Session.load(call)
  -- Tokens that an agent of another login reports do not count: it could spend the whole budget.
  if used and Records.belongs_to_caller(call, record) then
    local turns, tokens, other_turns = Records.use_of(call, id)
    Records.save_use(call, id, turns, tokens + new_tokens(), other_turns)
  end
  local outcome, answer
  if tool_call and record.status ~= 'IN_PROGRESS' then
    outcome, answer = 'NOT_ACTIVE', { status = record.status }
  elseif tool_call then
    local limit = Budget.limit_met(call, id, record, tool_call, call.request.most_repeats)
    if limit then
      Budget.block_at(call, limit, id, record, call.request.origin)
      outcome, answer = 'STOPPED', { limit = limit.code, reason = limit.reason }
    else
      Budget.count_call(call, id, tool_call)
    end
  end
  Session.save(call)
  if not outcome then
    local _, tokens = Records.use_of(call, id)
    local turns = Records.turns_of_caller(call, id, record)
    outcome = 'USED'
    answer = {
      turns = turns,
      tokens = string.format('%.0f', tokens),
      max_turns = record.max_turns,
      max_tokens = record.max_tokens,
    }
  end
  answer.state = call.session.state
  return Answer.reply(call, outcome, answer)
end
