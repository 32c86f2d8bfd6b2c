-- What a claim or a check says of intents, and what is found. Needs: gate_at, the place of its first ARGV; here as in a claim of
-- files.
-- ARGV: 17 optional or required: whether each claim to write cites an intent, 18 the cited one or '', 19 milliseconds after
--       which an owner that nobody was heard of counts as idle, 20 identical tool calls in a row that are let in, 21 name of the
--       tool and 22 digest of the call, '' for none, 23 origin of lines (ledger/append), 24 intent that was judged or '', 25
--       digests of its scope and 26 of .intentignore then, 27 the judgement: for each file path a letter, C if the intent may
--       change it
-- `files`: those that are judged, where only the store knows them; `is_quiet`: a refusal is not recorded.
-- Findings are lists { code, kind, intent or '', used, allowed, files }. Where the first is a refusal, all are, except for the
-- last ones, which are warnings: OWNER_IDLE and BUDGET_LOW.
local gate = {
  policy = ARGV[gate_at], cited = ARGV[gate_at + 1], idle_ms = tonumber(ARGV[gate_at + 2]),
  most_repeats = tonumber(ARGV[gate_at + 3]), call = { name = ARGV[gate_at + 4], digest = ARGV[gate_at + 5] },
  origin = ARGV[gate_at + 6],
  judged = { intent = ARGV[gate_at + 7], scope = ARGV[gate_at + 8], ignore = ARGV[gate_at + 9] }, judgement = ARGV[gate_at + 10],
  intent = '', findings = {}, is_refused = false, files = {},
}
