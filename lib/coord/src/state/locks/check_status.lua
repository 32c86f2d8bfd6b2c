-- check_status: surveys the locks that block reading or writing some files. Changes only expired entries, and ends tickets of the
-- caller for other files.
-- KEYS: those of admission/request
-- ARGV: those of admission/request, then 17 to 27 of locks/gate_request, 28 READING or WRITING, 29 neighbor policy, 30
--       digest and 31 letters of locks/policy, 32 the text of read_interface(), 33 lookups of builds/spelling, 34... file paths
-- Returns { CHECKED, now, head, its age in seconds or '', '1' if it is unconfirmed, behind: '0', '1' or '?', graph version,
--           number of omitted neighbors, findings, own entries as JSON, the result of other_spellings(), the intent that
--           is cited or selected, or '', the findings of locks/gate_request, what waiting() tells, and, where a lock blocks,
--           what suggested() gives and, if that is nothing, free_files() }
--      or { ASK_SCOPE, ... } or { ASK_POLICY, ... } as a claim
--      or { TOO_MUCH, now, LOCKS or NEIGHBORS }: there are too many of these
--      or { ASK_SOURCE, now, head, its age, etag or '' }: only the source can tell whether the caller is behind
--      or the denial of locks/taken
--      or one of the denials of admit()
local Adjacency = require('builds/adjacency')
local Admission = require('admission/admission')
local Behind = require('admission/behind')
local Blocking = require('locks/blocking')
local BuildSpelling = require('builds/spelling')
local Charge = require('locks/charge')
local Clock = require('clock')
local Entries = require('locks/entries')
local Free = require('locks/free')
local Gate = require('locks/gate')
local GateRequest = require('locks/gate_request')
local GraphAge = require('builds/graph_age')
local Held = require('locks/held')
local Limits = require('admission/limits')
local LockChanges = require('locks/changes')
local Policy = require('locks/policy')
local Queue = require('locks/queue')
local Request = require('admission/request')
local Suggested = require('teams/suggested')
local Survey = require('locks/survey')
local Taken = require('locks/taken')
local Waiting = require('teams/waiting')

return function(KEYS, ARGV)
  local call = {}
  local wanted, neighbor_policy, lookups = ARGV[28], ARGV[29], ARGV[33]
  local paths
  paths, call.gate_at = { unpack(ARGV, 34) }, 17
  call.policy = Policy.judged(ARGV[30], ARGV[31], paths)
  call.policy.interface = ARGV[32]
  Request.begin(call, KEYS, ARGV)
  Clock.begin(call)
  Limits.begin(call)
  Admission.begin(call)
  Entries.begin(call)
  Adjacency.begin(call)
  GateRequest.begin(call, KEYS, ARGV)

  local denial = Admission.admit(call)
  if not denial and call.request.taken then
    denial = Taken.denial(call, paths)
  end
  if denial then
    return denial
  end
  if not Policy.has_judged(call, paths) then
    return Policy.question(call, paths)
  end
  paths, call.gate.judgement, lookups = Policy.kept(call, paths, call.gate.judgement, lookups)
  if wanted == 'WRITING' and #paths > 0 and (call.governed or call.gate.policy == 'required' or call.gate.cited ~= '') then
    denial = Gate.judge(call, paths)
    if denial then
      return denial
    end
    local record = call.gate.record
    if record and record.status == 'IN_PROGRESS' and not call.gate.limit then
      Gate.warn_of_budget(call)
    end
  elseif call.governed and call.gate.cited ~= '' and redis.call('HEXISTS', call.keys.intents, call.gate.cited) == 1 then
    call.gate.intent = call.gate.cited
  end
  local behind, is_for_source = Behind.is_behind(call)
  if is_for_source and not call.gate.is_refused then
    return Behind.ask_source(call)
  end
  local interface_of = Blocking.read_interface(call.policy.interface)
  local findings, blocked, omitted, own = Survey.of(call, paths, wanted, neighbor_policy, interface_of)
  if not findings then
    local too_much = blocked
    return { 'TOO_MUCH', call.now, too_much }
  end
  local others = {} -- what the caller neither holds nor shares
  for _, path in ipairs(call.request.queue and paths or {}) do
    others[#others + 1] = not own[path] and call.policy.kinds[path] ~= 'S' and path or nil
  end
  local is_elsewhere = call.request.queue and Queue.is_left_for(call, others)
  if next(call.is_changed) or is_elsewhere then
    -- Expired entries and tickets are only cleaned up here: if the store cannot be written, a later script does it. SETRANGE of an
    -- empty value changes nothing, and fails like any write.
    local trial = redis.pcall('SETRANGE', call.keys.repository_limits, 0, '')
    if type(trial) == 'number' then
      Held.begin(call)
      LockChanges.save(call)
      if is_elsewhere then
        Queue.leave_for(call, others)
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
  local tasks, free = {}, {}
  if blocked then
    tasks = Suggested.tasks(call, teams, neighbor_policy, interface_of)
  end
  if blocked and #tasks == 0 then
    free = Free.files(call, paths, neighbor_policy, interface_of)
  end
  Charge.for_reads(call)
  return {
    'CHECKED', call.now, call.head.commit, call.head.age, call.head.is_unconfirmed, behind, version, omitted, findings, own_entries, spellings,
    call.gate.intent, call.gate.findings, teams, tasks, free,
  }
end
