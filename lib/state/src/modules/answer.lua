-- Answers as the typed calls decode them: { outcome, now, the answer as JSON }. Empty values are omitted, since cjson encodes an empty list
-- as an object.
local Answer = {}

-- The list, or nil if it is empty.
function Answer.some(list)
  return #list > 0 and list or nil
end

-- The text, or nil if it is empty.
local function text_or_nil(value)
  return value ~= '' and value or nil
end

-- The head that an answer is based on: `head`, `head_age` in seconds, `is_unconfirmed`.
function Answer.head(call)
  local head = call.head
  return { head = text_or_nil(head.commit), head_age = text_or_nil(head.age), is_unconfirmed = head.is_unconfirmed == '1' or nil }
end

-- The answer to a check or a claim: the head; `behind`: YES or MAYBE; `graph_version`; `omitted`: number of neighbors; `findings` of
-- locks/survey; `own` entries as JSON; `spelled`: what BuildSpelling.other_spellings() returns; the `intent` that is cited or selected,
-- and `gate`: its findings.
function Answer.of(call, behind, version, omitted, findings, own, spelled)
  local gate, answer = call.gate, Answer.head(call)
  answer.behind = behind ~= '0' and (behind == '1' and 'YES' or 'MAYBE') or nil
  answer.graph_version, answer.omitted = text_or_nil(version), omitted > 0 and omitted or nil
  answer.findings, answer.own, answer.spelled = Answer.some(findings), Answer.some(own), Answer.some(spelled)
  answer.intent, answer.gate = text_or_nil(gate.intent), Answer.some(gate.findings)
  return answer
end

-- The reply { outcome, now, the answer as JSON }.
function Answer.reply(call, outcome, answer)
  return { outcome, call.now, cjson.encode(answer) }
end

-- The denial TOO_MUCH: the request needs more reads than one run may make; `part`: LOCKS or NEIGHBORS.
function Answer.too_much(call, part)
  return Answer.reply(call, 'TOO_MUCH', { part = part })
end

return Answer
