-- What a claim or a check says of intents, ARGV 17 to 27 of both, and what is found.
-- ARGV: 17 optional or required: whether each claim to write cites an intent, 18 the cited one or '', 19 milliseconds after
--       which an owner that nobody was heard of counts as idle, 20 identical tool calls in a row that are let in, 21 name of the
--       tool and 22 digest of the call, '' for none, 23 origin of lines (ledger/append), 24 intent that was judged or '', 25
--       digests of its scope and 26 of .intentignore then, 27 the judgement: for each file path a letter, C if the intent may
--       change it
-- Findings are lists { code, kind, intent or '', used, allowed, files }. Where the first is a refusal, all are, except for the
-- last ones, which are warnings: OWNER_IDLE and BUDGET_LOW.
local gate = {
  policy = ARGV[17], cited = ARGV[18], idle_ms = tonumber(ARGV[19]), most_repeats = tonumber(ARGV[20]),
  call = { name = ARGV[21], digest = ARGV[22] }, origin = ARGV[23],
  judged = { intent = ARGV[24], scope = ARGV[25], ignore = ARGV[26] }, judgement = ARGV[27],
  intent = '', findings = {}, is_refused = false,
}
