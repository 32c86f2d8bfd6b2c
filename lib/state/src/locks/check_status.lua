-- check_status: surveys the locks that block reading or writing some files. It only drops expired entries, and tickets of the caller for
-- other files.
-- KEYS, ARGV: those of admission/request, with `gate` (locks/gate_request), `wanted`: READING or WRITING, `policy` (locks/policy),
-- `lookups` of builds/spelling, and `paths`
-- Returns { CHECKED, now, answer }: Answer.of(), with `waiting`: what Waiting.of_caller() returns, and, if a lock blocks, what
--           Alternatives.add() adds
--      or ASK_SCOPE, ASK_POLICY, TOO_MUCH or ASK_SOURCE, as a claim
--      or one of the denials of Admitted.denial()
local Adjacency = require('builds/adjacency')
local Admission = require('admission/admission')
local Behind = require('admission/behind')
local Blocking = require('locks/blocking')
local Admitted = require('locks/admitted')
local Alternatives = require('locks/alternatives')
local Answer = require('answer')
local BuildSpelling = require('builds/spelling')
local Charge = require('locks/charge')
local Entries = require('locks/entries')
local Gate = require('seams/gate')
local GateRequest = require('locks/gate_request')
local GraphAge = require('builds/graph_age')
local Held = require('locks/held')
local LockChanges = require('locks/changes')
local Policy = require('locks/policy')
local Queue = require('locks/queue')
local Survey = require('locks/survey')
local Waiting = require('seams/waiting')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  local request = call.request
  local wanted, paths, lookups = request.wanted, request.paths, request.lookups
  Policy.begin(call, paths)
  Entries.begin(call)
  Adjacency.begin(call)
  GateRequest.begin(call)

  local denial = Admitted.denial(call, paths)
  if denial then
    return denial
  end
  if not Policy.has_judged(call, paths) then
    return Policy.question(call, paths)
  end
  local policy, gate = call.policy, call.gate
  paths, gate.judged.letters, lookups = Policy.without_ignored(call, paths, gate.judged.letters or '', lookups)
  if wanted == 'WRITING' and #paths > 0 and (call.governed or gate.is_required or gate.cited ~= '') then
    denial = Gate.judge(call, paths)
    if denial then
      return denial
    end
    local record = gate.record
    if record and record.status == 'IN_PROGRESS' and not gate.limit then
      Gate.warn_of_budget(call)
    end
  elseif call.governed and gate.cited ~= '' and Gate.is_citation_valid(call) then
    gate.intent = gate.cited
  end
  local behind, needs_source = Behind.compare_heads(call)
  if needs_source and not gate.is_refused then
    return Behind.ask_source(call)
  end
  local neighbor_policy, interface_of = policy.neighbors, Blocking.interfaces(policy)
  local findings, is_blocked, omitted, own = Survey.of(call, paths, wanted, neighbor_policy, interface_of)
  if not findings then
    return Answer.too_much(call, is_blocked)
  end
  local queued_paths = {} -- those that the caller may wait for: neither its own nor shared
  for _, path in ipairs(request.queue and paths or {}) do
    queued_paths[#queued_paths + 1] = not own[path] and policy.kinds[path] ~= 'S' and path or nil
  end
  local waits_for_others = request.queue and Queue.waits_for_others(call, queued_paths)
  if next(call.is_changed) or waits_for_others then
    -- This only cleans up expired entries and tickets: if the store cannot be written, a later script does it. SETRANGE of an empty
    -- value changes nothing, and fails like any write.
    local trial = redis.pcall('SETRANGE', call.keys.repository_limits, 0, '')
    if type(trial) == 'number' then
      Held.begin(call)
      LockChanges.save(call)
      if waits_for_others then
        Queue.leave_others(call, queued_paths)
      end
    end
  end

  local own_entries = {}
  for _, path in ipairs(paths) do
    if own[path] then
      own_entries[#own_entries + 1] = cjson.encode(own[path])
    end
  end
  local version = GraphAge.version(call)
  local spellings = version == '' and {} or BuildSpelling.other_spellings(call, paths, lookups)
  local teams = Waiting.of_caller(call)
  local answer = Answer.of(call, behind, version, omitted, findings, own_entries, spellings)
  answer.waiting = Answer.some(teams)
  if is_blocked then
    Alternatives.add(call, answer, teams, paths, interface_of)
  end
  Charge.for_reads(call)
  return Answer.reply(call, 'CHECKED', answer)
end
