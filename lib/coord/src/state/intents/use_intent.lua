-- use_intent: counts what the work on an intent costs: tokens, by the running total of a session; a tool call as a turn.
-- KEYS: those of admission/request
-- ARGV: those of admission/request, then 2 id, 3 name of the tool, 4 digest of the call, '' for none, 5 identical calls in
--       a row that are let in, 6 session of the tokens, 7 its running total, '' for none, 8 origin of lines
-- Returns { USED, now, state of the caller, turns, tokens, max_turns or '', max_tokens or '' }
--      or { UNKNOWN, now }: there is no such intent; nothing is changed
--      or { NOT_ACTIVE, now, state, status }: the call is not let in; tokens are counted
--      or { STOPPED, now, state, code, reason }: the call is not let in, and the intent is blocked now; tokens are counted
--      or one of the denials of Admission.admit(); nothing is changed
local Admission = require('admission/admission')
local Append = require('ledger/append')
local Budget = require('intents/budget')
local Records = require('intents/records')
local Session = require('intents/session')

return function(KEYS, ARGV)
  local call = {}
  local id, name, digest, most_repeats, token_session, total, origin =
    ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7]), ARGV[8]
  Admission.begin(call, KEYS, ARGV)
  Records.begin(call)
  Append.begin(call)

  -- The tokens that the session has used since its last report. Reports may come twice, and in any order.
  local function new_tokens()
    local MOST_SESSIONS = 16
    call.session.tokens, call.session.order = call.session.tokens or {}, call.session.order or {}
    local before = call.session.tokens[token_session]
    if not before then
      table.insert(call.session.order, token_session)
      if #call.session.order > MOST_SESSIONS then
        call.session.tokens[table.remove(call.session.order, 1)] = nil
      end
    end
    call.session.tokens[token_session] = math.max(before or 0, total)
    return call.session.tokens[token_session] - (before or 0)
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
  local tool_call = { name = name, digest = digest }
  -- Tokens that an agent of another login reports do not count: it could spend the whole budget.
  if total and Records.is_callers(call, record) then
    local turns, tokens, others = Records.use_of(call, id)
    Records.save_use(call, id, turns, tokens + new_tokens(), others)
  end
  local outcome
  if digest ~= '' and record.status ~= 'IN_PROGRESS' then
    outcome = { 'NOT_ACTIVE', call.now, call.session.state, record.status }
  elseif digest ~= '' then
    local limit = Budget.limit_met(call, id, record, tool_call, most_repeats)
    if limit then
      Budget.block_at(call, limit, id, record, origin)
      outcome = { 'STOPPED', call.now, call.session.state, limit.code, limit.reason }
    else
      Budget.count_call(call, id, tool_call)
    end
  end
  Session.save(call)
  local _, tokens = Records.use_of(call, id)
  local turns = Records.turns_of_caller(call, id, record)
  return outcome or { 'USED', call.now, call.session.state, turns, tokens, record.max_turns or '', record.max_tokens or '' }
end
