-- The terms of intents in a claim or a check, and the findings.
local GateRequest = {}

-- `gate` of the request (`gate.rs`): `is_required`: each claim to write cites an intent; `cited`: that one; `idle_ms`: milliseconds without a call
-- after which an owner counts as idle; `most_repeats`: identical tool calls in a row that are allowed; `call`: `name` of
-- the tool and `digest` of the call; `origin` of lines (ledger/append); `judged`: the `intent` that was judged, the digests of its `scope`
-- and of `.intentignore` then, and `letters`: for each file path one, C if the intent may change it. Then it has: `intent`, that is cited
-- or selected, or ''; `findings`: `code`, `kind`, `intent`, or '', `used`, `allowed`, `files`, `by`: where the first is a refusal,
-- `is_refused`, all are, except for the last ones, which are warnings: OWNER_IDLE and BUDGET_LOW; `files`: those that are judged, where
-- only the store knows them; `is_quiet`: a refusal is not recorded.
function GateRequest.begin(call)
  local sent = call.request.gate
  local gate = sent or { cited = '', judged = {}, intent = '', findings = {}, files = {} }
  if sent then
    gate.cited, gate.judged = gate.cited or '', gate.judged or {}
    gate.intent, gate.findings, gate.files = '', {}, {}
  end
  call.gate = gate
end

return GateRequest
