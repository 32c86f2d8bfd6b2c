-- claim: claims all of some files for reading or writing, or none of them; a repeated claim renews.
-- KEYS: those of admission/request
-- ARGV: those of admission/request, then 17 to 27 of locks/gate_request, 28 READING or WRITING, 29 neighbor policy, 30 digest and 31
--       letters of locks/policy, 32 the text of read_interface(), 33 the caller's head, 34 message,
--       35 seconds to hold, 36 repository, 37 lookups of builds/spelling, 38 another agent of the person, whose locks on
--       the files are taken over, or '', 39 seconds for which the server holds the claim, 40 seconds of patience: both of
--       locks/queue, 41... file paths
-- Returns what claimed() of locks/claim_files gives, what waiting() tells, and, of a CONFLICT, what suggested() gives and, if that is nothing, free_files(), where outcome is CLAIMED, REFUSED (by intents; nothing
--           claimed), CONFLICT (nothing claimed) or STALE (new files to write, behind the branch; nothing claimed)
--      or { FULL, now, the part without room for more locks: FILE, PERSON or REPOSITORY, or for more owners: OWNERS, that
--           file or '' }; nothing claimed
--      or { ASK_SCOPE, now, intent, digest of its scope, its text, or '' if that digest was sent, digest of .intentignore, its
--           text, or '' if that digest was sent, no files }: the intent has yet to be judged; nothing claimed
--      or { ASK_POLICY, now, digest of the policy of the branch or '', its text or '', the files }: they have yet to be judged by it;
--           nothing claimed
--      or { TOO_MUCH, now, LOCKS or NEIGHBORS }: there are too many of these; nothing claimed
--      or { ASK_SOURCE, now, head, its age, etag or '' }: only the source can tell whether the caller is behind; nothing
--           claimed
--      or { MARK_FIRST, now }: it would be granted after mark_due; nothing claimed
--      or the denial of locks/taken; nothing claimed
--      or one of the denials of admit(); nothing claimed
local Adjacency = require('builds/adjacency')
local Admission = require('admission/admission')
local Blocking = require('locks/blocking')
local Charge = require('locks/charge')
local ClaimFiles = require('locks/claim_files')
local Clock = require('clock')
local Entries = require('locks/entries')
local Free = require('locks/free')
local GateRequest = require('locks/gate_request')
local Held = require('locks/held')
local HoldsAll = require('locks/holds_all')
local Limits = require('admission/limits')
local Policy = require('locks/policy')
local Releases = require('locks/releases')
local Request = require('admission/request')
local Suggested = require('teams/suggested')
local Survey = require('locks/survey')
local Taken = require('locks/taken')
local Waiting = require('teams/waiting')

return function(KEYS, ARGV)
  local call = {}
  local wanted, neighbor_policy = ARGV[28], ARGV[29]
  local agent_head, message, ttl, repository, lookups, takes_over = unpack(ARGV, 33, 38)
  local paths
  paths, call.gate_at = { unpack(ARGV, 41) }, 17
  call.policy = Policy.judged(ARGV[30], ARGV[31], paths)
  call.policy.interface, call.policy.wait, call.policy.patience = ARGV[32], ARGV[39], ARGV[40]
  Request.begin(call, KEYS, ARGV)
  Clock.begin(call)
  Limits.begin(call)
  Admission.begin(call)
  Entries.begin(call)
  Adjacency.begin(call)
  Held.begin(call)
  Releases.begin(call)
  GateRequest.begin(call, KEYS, ARGV)

  local interface_of = Blocking.read_interface(call.policy.interface)
  call.request.takes_over = takes_over ~= '' and takes_over or nil
  local denial = Admission.admit(call, function()
    return HoldsAll.of(call, paths)
  end)
  if not denial and call.request.taken then
    denial = Taken.denial(call, paths)
  end
  if denial then
    return denial
  end
  -- The outcome, with what waits for the caller behind it, and what it could do instead.
  local function ended(answer)
    Charge.for_reads(call)
    local teams = Waiting.of_caller(call)
    answer[#answer + 1] = teams
    local is_blocked, tasks, free = answer[1] == 'CONFLICT', {}, {}
    if is_blocked then
      tasks = Suggested.tasks(call, teams, neighbor_policy, interface_of)
    end
    if is_blocked and #tasks == 0 then
      free = Free.files(call, paths, neighbor_policy, interface_of)
    end
    answer[#answer + 1] = tasks
    answer[#answer + 1] = free
    return answer
  end
  if not Policy.has_judged(call, paths) then
    return Policy.question(call, paths)
  end
  paths, call.gate.judgement, lookups = Policy.kept(call, paths, call.gate.judgement, lookups)
  local surveyed = { Survey.of(call, paths, wanted, neighbor_policy, interface_of) }
  if not surveyed[1] then
    local too_much = surveyed[2]
    return { 'TOO_MUCH', call.now, too_much }
  end
  local answer, outcome = ClaimFiles.claim(call, {
    paths = paths, wanted = wanted, neighbor_policy = neighbor_policy, interface_of = interface_of, surveyed = surveyed,
    agent_head = agent_head, message = message, ttl = tonumber(ttl), repository = repository, lookups = lookups,
  })
  return answer or ended(outcome)
end
