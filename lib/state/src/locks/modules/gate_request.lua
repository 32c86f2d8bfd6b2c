-- The terms of intents in a claim or a check, and the findings.
local GateRequest = {}

-- `gate` of the request (`gate.rs`): `is_required`: each claim for writing must cite an intent; `cited`: that intent; `idle_ms`:
-- milliseconds without a call after which an owner counts as idle; `most_repeats`: identical tool calls in a row that are allowed; `call`:
-- `name` of the tool and `digest` of the call; `origin` of lines (ledger/append); `judged`: the `intent` that was judged, the digests of its
-- `scope` and of `.intentignore` then, and `letters`: for each file path one, C if the intent may change it. begin() adds: `intent` that is
-- cited or selected, or ''; `findings`: `code`, `kind`, `intent`, or '', `used`, `allowed`, `files`, `by`. If the first is a refusal
-- (`is_refused`), all are, except for warnings at the end: OWNER_IDLE and BUDGET_LOW. `files`: the judged files, if only the store
-- knows them; `is_quiet`: a refusal is not recorded.
function GateRequest.begin(call)
  local request_gate = call.request.gate
  local gate = request_gate or { cited = '', judged = {}, intent = '', findings = {}, files = {} }
  if request_gate then
    gate.cited, gate.judged = gate.cited or '', gate.judged or {}
    gate.intent, gate.findings, gate.files = '', {}, {}
  end
  call.gate = gate
end

return GateRequest
