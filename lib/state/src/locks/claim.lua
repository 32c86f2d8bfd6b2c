-- claim: claims all of some files for reading or writing, or none of them; a repeated claim renews.
-- KEYS, ARGV: those of admission/request, with `gate` (locks/gate_request), `wanted`: READING or WRITING, `policy` (locks/policy),
-- `agent_head`: the caller's head, `message`, `ttl`: seconds to hold, `repository`, `lookups` of builds/spelling, `takes_over`: another
-- agent of the person, whose locks on the files are taken over, and `paths`
-- Returns { outcome, now, answer }: what locks/claim_files returns, with `waiting`: what Waiting.of_caller() returns, and, for a CONFLICT,
--           what Alternatives.add() adds. The outcome is CLAIMED, REFUSED (by intents; nothing claimed), CONFLICT (nothing claimed) or
--           STALE (new files for writing, behind the branch; nothing claimed)
--      or { FULL, now, answer }: the `part` without room for more locks: FILE, PERSON or REPOSITORY, or for more owners: OWNERS; and that
--           `file`, absent for none; nothing claimed
--      or ASK_SCOPE (Gate.judge()): the intent has yet to be judged; nothing claimed
--      or ASK_POLICY (Policy.question()): the files have yet to be judged by the policy of the branch; nothing claimed
--      or TOO_MUCH (Answer.too_much()): there are too many locks or neighbors; nothing claimed
--      or ASK_SOURCE (Behind.ask_source()): only the source knows whether the caller is behind; nothing claimed
--      or { MARK_FIRST, now }: it would be granted after mark_due; nothing claimed
--      or one of the denials of Admitted.denial(); nothing claimed
local Adjacency = require('builds/adjacency')
local Admission = require('admission/admission')
local Admitted = require('locks/admitted')
local Alternatives = require('locks/alternatives')
local Answer = require('answer')
local Blocking = require('locks/blocking')
local Charge = require('locks/charge')
local ClaimFiles = require('locks/claim_files')
local Entries = require('locks/entries')
local GateRequest = require('locks/gate_request')
local Held = require('locks/held')
local HoldsAll = require('locks/holds_all')
local Policy = require('locks/policy')
local Releases = require('locks/releases')
local Survey = require('locks/survey')
local Waiting = require('seams/waiting')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  local request = call.request
  local paths, lookups = request.paths, request.lookups
  Policy.begin(call, paths)
  Entries.begin(call)
  Adjacency.begin(call)
  Held.begin(call)
  Releases.begin(call)
  GateRequest.begin(call)

  local denial = Admitted.denial(call, paths, function()
    return HoldsAll.of(call, paths)
  end)
  if denial then
    return denial
  end
  if not Policy.has_judged(call, paths) then
    return Policy.question(call, paths)
  end
  local judged = call.gate.judged
  paths, judged.letters, lookups = Policy.without_ignored(call, paths, judged.letters or '', lookups)
  local interface_of = Blocking.interfaces(call.policy)
  local surveyed = { Survey.of(call, paths, request.wanted, call.policy.neighbors, interface_of) }
  if not surveyed[1] then
    return Answer.too_much(call, surveyed[2])
  end
  local reply, outcome, answer = ClaimFiles.claim(call, {
    paths = paths,
    wanted = request.wanted,
    interface_of = interface_of,
    surveyed = surveyed,
    agent_head = request.agent_head,
    message = request.message,
    ttl = request.ttl,
    repository = request.repository,
    lookups = lookups,
  })
  if reply then
    return reply
  end
  Charge.for_reads(call)
  local teams = Waiting.of_caller(call)
  answer.waiting = Answer.some(teams)
  if outcome == 'CONFLICT' then
    Alternatives.add(call, answer, teams, paths, interface_of)
  end
  return Answer.reply(call, outcome, answer)
end
