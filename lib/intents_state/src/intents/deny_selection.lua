-- deny_selection: records that the selection of an intent was refused, the same refusal once a minute. It changes nothing
-- else, and records nothing if the repository has no intents.
-- KEYS, ARGV: those of admission/request, with `id`, and `payload`, `result` and `origin` of the line
-- Returns { NOTED, now, answer } with the `state` of the caller, or one of the denials of Admission.admit()
local Admission = require('admission/admission')
local Answer = require('answer')
local Append = require('ledger/append')
local FirstRefusal = require('events/first_refusal')
local Session = require('intents/session')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  local request = call.request
  Append.begin(call)

  local denial = Admission.admit(call) or call.governed and Append.full_ledger(call, 1)
  if denial then
    return denial
  end
  Session.load(call)
  local refusal = { 'INTENT_SELECTION', request.user_id, request.agent_id, request.id, request.result }
  if call.governed and FirstRefusal.count(call, refusal) then
    Append.append_line(call, request.id, call.session.state, 'INTENT_SELECTION', request.payload, request.result, request.origin)
  end
  return Answer.reply(call, 'NOTED', { state = call.session.state })
end
