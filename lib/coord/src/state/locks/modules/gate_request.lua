-- What a claim or a check says of intents, and what is found.
-- ARGV: 17 optional or required: whether each claim to write cites an intent, 18 the cited one or '', 19 milliseconds after
--       which an owner that nobody was heard of counts as idle, 20 identical tool calls in a row that are let in, 21 name of the
--       tool and 22 digest of the call, '' for none, 23 origin of lines (ledger/append), 24 intent that was judged or '', 25
--       digests of its scope and 26 of .intentignore then, 27 the judgement: for each file path a letter, C if the intent may
--       change it
-- `files`: those that are judged, where only the store knows them; `is_quiet`: a refusal is not recorded.
-- Findings are lists { code, kind, intent or '', used, allowed, files }. Where the first is a refusal, all are, except for the
-- last ones, which are warnings: OWNER_IDLE and BUDGET_LOW.
local GateRequest = {}

function GateRequest.begin(call, KEYS, ARGV)
  call.gate = {
    policy = ARGV[call.gate_at], cited = ARGV[call.gate_at + 1], idle_ms = tonumber(ARGV[call.gate_at + 2]),
    most_repeats = tonumber(ARGV[call.gate_at + 3]), call = { name = ARGV[call.gate_at + 4], digest = ARGV[call.gate_at + 5] },
    origin = ARGV[call.gate_at + 6],
    judged = { intent = ARGV[call.gate_at + 7], scope = ARGV[call.gate_at + 8], ignore = ARGV[call.gate_at + 9] }, judgement = ARGV[call.gate_at + 10],
    intent = '', findings = {}, is_refused = false, files = {},
  }
end

return GateRequest
