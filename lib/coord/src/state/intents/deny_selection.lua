-- deny_selection: records that the selection of an intent was refused, the same refusal once a minute. Nothing else is
-- changed, and nothing at all where the repository has no intents.
-- KEYS: those of admission/request
-- ARGV: those of admission/request, then 17 id, 18 payload and 19 result of the line, 20 its origin
-- Returns { NOTED, now, state of the caller } or one of the denials of admit()
local id, payload, result, origin = unpack(ARGV, 17, 20)
-- @include admission/admission
-- @include intents/session
-- @include ledger/append
-- @include events/first_refusal

local denial = admit() or governed and full_ledger(1)
if denial then
  return denial
end
load_session()
if governed and first_refusal({ 'INTENT_SELECTION', request.user_id, request.agent_id, id, result }) then
  append_line(id, session.state, 'INTENT_SELECTION', payload, result, origin)
end
return { 'NOTED', now, session.state }
