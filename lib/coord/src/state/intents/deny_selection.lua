-- deny_selection: records that the selection of an intent was refused, the same refusal once a minute. Nothing else is
-- changed, and nothing at all where the repository has no intents.
-- KEYS: those of admission/request
-- ARGV: those of admission/request, then 2 id, 3 payload and 4 result of the line, 5 its origin
-- Returns { NOTED, now, state of the caller } or one of the denials of Admission.admit()
local Admission = require('admission/admission')
local Append = require('ledger/append')
local FirstRefusal = require('events/first_refusal')
local Session = require('intents/session')

return function(KEYS, ARGV)
  local call = {}
  local id, payload, result, origin = unpack(ARGV, 2, 5)
  Admission.begin(call, KEYS, ARGV)
  Append.begin(call)

  local denial = Admission.admit(call) or call.governed and Append.full_ledger(call, 1)
  if denial then
    return denial
  end
  Session.load(call)
  if call.governed and FirstRefusal.count(call, { 'INTENT_SELECTION', call.request.user_id, call.request.agent_id, id, result }) then
    Append.append_line(call, id, call.session.state, 'INTENT_SELECTION', payload, result, origin)
  end
  return { 'NOTED', call.now, call.session.state }
end
