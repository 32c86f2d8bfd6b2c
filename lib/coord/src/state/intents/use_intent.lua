-- use_intent: counts what the work on an intent costs: tokens, by the running total of a session; a tool call as a turn.
-- KEYS: those of admission/request
-- ARGV: those of admission/request, then 17 id, 18 name of the tool, 19 digest of the call, '' for none, 20 identical calls in
--       a row that are let in, 21 session of the tokens, 22 its running total, '' for none, 23 origin of lines
-- Returns { USED, now, state of the caller, turns, tokens, max_turns or '', max_tokens or '' }
--      or { UNKNOWN, now }: there is no such intent; nothing is changed
--      or { NOT_ACTIVE, now, state, status }: the call is not let in; tokens are counted
--      or { STOPPED, now, state, code, reason }: the call is not let in, and the intent is blocked now; tokens are counted
--      or one of the denials of admit(); nothing is changed
local id, name, digest, most_repeats, token_session, total, origin =
  ARGV[17], ARGV[18], ARGV[19], tonumber(ARGV[20]), ARGV[21], tonumber(ARGV[22]), ARGV[23]
-- @include admission/admission
-- @include intents/budget

-- The tokens that the session has used since its last report. Reports may come twice, and in any order.
local function new_tokens()
  local MOST_SESSIONS = 16
  session.tokens, session.order = session.tokens or {}, session.order or {}
  local before = session.tokens[token_session]
  if not before then
    table.insert(session.order, token_session)
    if #session.order > MOST_SESSIONS then
      session.tokens[table.remove(session.order, 1)] = nil
    end
  end
  session.tokens[token_session] = math.max(before or 0, total)
  return session.tokens[token_session] - (before or 0)
end

local denial = admit()
if denial then
  return denial
end
local record = record_of(id)
if not record then
  return { 'UNKNOWN', now }
end
load_session()
local call = { name = name, digest = digest }
-- Tokens that an agent of another login reports do not count: it could spend the whole budget.
if total and is_callers(record) then
  local turns, tokens, others = use_of(id)
  save_use(id, turns, tokens + new_tokens(), others)
end
local outcome
if digest ~= '' and record.status ~= 'IN_PROGRESS' then
  outcome = { 'NOT_ACTIVE', now, session.state, record.status }
elseif digest ~= '' then
  local limit = limit_met(id, record, call, most_repeats)
  if limit then
    block_at(limit, id, record, origin)
    outcome = { 'STOPPED', now, session.state, limit.code, limit.reason }
  else
    count_call(id, call)
  end
end
save_session()
local _, tokens = use_of(id)
local turns = turns_of_caller(id, record)
return outcome or { 'USED', now, session.state, turns, tokens, record.max_turns or '', record.max_tokens or '' }
