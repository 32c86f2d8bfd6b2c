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
local wanted, neighbor_policy, lookups = ARGV[28], ARGV[29], ARGV[33]
local paths, gate_at = { unpack(ARGV, 34) }, 17
local policy = { digest = ARGV[30], letters = ARGV[31], judged = paths }
-- @include admission/admission
-- @include admission/behind
-- @include locks/survey
-- @include builds/graph_age
-- @include builds/spelling
-- @include locks/gate_request
-- @include teams/waiting

local denial = admit()
if not denial and request.taken then
  -- @include locks/taken
  denial = taken_away(paths)
end
if denial then
  return denial
end
if not policy.has_judged(paths) then
  return policy.question(paths)
end
paths, gate.judgement, lookups = policy.kept(paths, gate.judgement, lookups)
if wanted == 'WRITING' and #paths > 0 and (governed or gate.policy == 'required' or gate.cited ~= '') then
  -- @include locks/gate_check
elseif governed and gate.cited ~= '' and redis.call('HEXISTS', keys.intents, gate.cited) == 1 then
  gate.intent = gate.cited
end
local behind, is_for_source = is_behind_head()
if is_for_source and not gate.is_refused then
  return ask_source()
end
local interface_of = read_interface(ARGV[32])
local findings, blocked, omitted, own = survey(paths, wanted, neighbor_policy, interface_of)
if not findings then
  local too_much = blocked
  return { 'TOO_MUCH', now, too_much }
end
local others = {} -- what the caller neither holds nor shares
for _, path in ipairs(request.queue and paths or {}) do
  others[#others + 1] = not own[path] and policy.kinds[path] ~= 'S' and path or nil
end
local is_elsewhere = request.queue and open_queue().is_left_for(others)
if next(is_changed) or is_elsewhere then
  -- Expired entries and tickets are only cleaned up here: if the store cannot be written, a later script does it. SETRANGE of an
  -- empty value changes nothing, and fails like any write.
  local trial = redis.pcall('SETRANGE', keys.repository_limits, 0, '')
  if type(trial) == 'number' then
    -- @include locks/changes
    save_entries()
    if is_elsewhere then
      open_queue().leave_for(others)
    end
  end
end

local own_entries = {}
for _, path in ipairs(paths) do
  if own[path] then
    own_entries[#own_entries + 1] = cjson.encode(own[path])
  end
end
local version = graph_version()
local spellings = version == '' and {} or other_spellings(paths, lookups)
local teams = waiting()
local tasks, free = {}, {}
if blocked then
  -- @include teams/suggested
  tasks = suggested(teams)
end
if blocked and #tasks == 0 then
  -- @include locks/free
  free = free_files(paths)
end
do
  -- @include locks/charge
end
return {
  'CHECKED', now, head.commit, head.age, head.is_unconfirmed, behind, version, omitted, findings, own_entries, spellings,
  gate.intent, gate.findings, teams, tasks, free,
}
