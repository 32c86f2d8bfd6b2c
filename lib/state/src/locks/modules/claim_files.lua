-- The claim of files: all of them, or none.
local Answer = require('answer')
local Behind = require('admission/behind')
local Blocking = require('locks/blocking')
local BuildSpelling = require('builds/spelling')
local DueMark = require('admission/due_mark')
local Entries = require('locks/entries')
local Gate = require('seams/gate')
local GraphAge = require('builds/graph_age')
local Held = require('locks/held')
local LockChanges = require('locks/changes')
local Queue = require('locks/queue')
local Refusal = require('locks/refusal')
local Releases = require('locks/releases')
local Request = require('admission/request')
local Reserve = require('locks/reserve')
local Survey = require('locks/survey')
local Tokens = require('locks/tokens')

local ClaimFiles = {}

-- Judges the claim by intents: nil, or a denial.
local function judge_by_intents(call, claim)
  if claim.wanted == 'WRITING' and #claim.paths > 0 and (call.governed or call.gate.is_required or call.gate.cited ~= '') then
    return Gate.judge_claim(call, claim.paths)
  elseif call.governed and call.gate.cited ~= '' and Gate.is_citation_valid(call) then
    call.gate.intent = call.gate.cited
  end
end

-- The caller's earlier locks, as the answer has them; `is_kept`: path -> whether the caller keeps its lock as it is; and whether the claim
-- renews all its locks.
local function compare_own(call, claim)
  local own, prior_locks, is_kept, is_renewal = claim.surveyed[4], {}, {}, true
  for _, path in ipairs(claim.paths) do
    local entry = own[path]
    if entry then
      local taken_from = Request.is_own(call, entry) and '' or entry.agent_id
      prior_locks[#prior_locks + 1] = { path, entry.status, entry.granted_at or entry.timestamp, entry.message, taken_from }
    end
    -- A writer that claims for reading keeps its lock for writing: it still has to push its work.
    is_kept[path] = entry ~= nil and (entry.status == claim.wanted or entry.status == 'WRITING')
    is_renewal = is_renewal and is_kept[path]
  end
  return prior_locks, is_kept, is_renewal
end

-- The files of the findings that block, and whether the claim may wait for them.
local function conflicts_in(findings)
  local conflicts, is_named, may_wait = {}, {}, true
  for _, finding in ipairs(findings) do
    local entry = finding.blocks and cjson.decode(finding.entry)
    -- There is no queue for pending changes: it is unknown when a person merges them.
    may_wait = may_wait and not (entry and finding.relation == 'PENDING')
    if entry and not is_named[entry.file_path] then
      is_named[entry.file_path] = true
      conflicts[#conflicts + 1] = entry.file_path
    end
  end
  return conflicts, may_wait
end

-- Refuses the claim. Returns the outcome, the caller's entries as JSON, and what Queue.enqueue() returns, nil without a ticket.
local function refuse(call, claim, is_stale)
  local paths, wanted, message = claim.paths, claim.wanted, claim.message
  local findings, is_blocked, _, own = unpack(claim.surveyed)
  local own_entries, queue_position = {}, nil
  for _, path in ipairs(paths) do
    own_entries[#own_entries + 1] = own[path] and cjson.encode(own[path])
  end
  LockChanges.save(call)
  if call.gate.is_refused then
    if not call.gate.is_quiet then
      Gate.record_refusal(call, paths, message)
    end
    if call.request.queue then
      Queue.leave_others(call, paths)
    end
    return 'REFUSED', own_entries
  end
  local outcome = is_stale and 'STALE' or 'CONFLICT'
  local conflicts, may_wait = conflicts_in(findings)
  if may_wait and not is_stale then
    local keeps_all = Survey.keeps_all(paths, claim.interface_of)
    queue_position = Queue.enqueue(call, paths, wanted, message, call.policy.neighbors, keeps_all, findings)
  elseif call.request.queue then
    Queue.leave_others(call, paths)
  end
  Refusal.emit(call, wanted, message, paths, outcome, is_blocked and conflicts or nil)
  return outcome, own_entries, queue_position
end

-- Makes room for the locks, and for the intent as the owner of the files if it `takes_ownership`. Nil, or the part without room, and the
-- file, nil for the repository.
local function reserve(call, claim, takes_ownership)
  local part, file
  if takes_ownership then
    part, file = Gate.reserve_owners(call, claim.paths)
  end
  if not part then
    local key_prefix = claim.repository .. ':' .. call.request.branch .. ':'
    part, file = Reserve.locks(call, claim.paths, claim.surveyed[4], key_prefix, claim.message)
  end
  return part, file
end

-- Both agents of a takeover may hold the file: the lock that is not renewed goes.
local function drop_other_lock(call, path, entry)
  local remaining = {}
  for _, other in ipairs(call.entries_of[path]) do
    if other ~= entry and other.branch == call.request.branch and (Request.is_own(call, other) or Survey.is_taken_over(call, other)) then
      Held.count_out(call, other)
    else
      remaining[#remaining + 1] = other
    end
  end
  call.entries_of[path] = remaining
end

local function agent_or_nil(call)
  return call.request.agent_id ~= '' and call.request.agent_id or nil
end

local function add_entry(call, claim, path)
  local entry = {
    key = claim.repository .. ':' .. call.request.branch .. ':' .. path,
    file_path = path,
    branch = call.request.branch,
    user_id = call.request.user_id,
    agent_id = agent_or_nil(call),
  }
  table.insert(call.entries_of[path], entry)
  return entry
end

-- How many files the lock newly blocks for others.
local function count_blocked(call, wanted, entry, interface, is_kept)
  local neighbor_policy = call.policy.neighbors
  local blocks = Blocking.is_blocking(wanted, 'NEIGHBOR', wanted, neighbor_policy, false, interface == 'keeps')
  local blocked_before = is_kept and (neighbor_policy == 'block' or entry.interface ~= 'keeps')
  return blocks and not blocked_before and tonumber(call.is_tracked[entry.file_path]) or 0
end

-- Renews an entry, old or new. `interface`: the declaration about it, nil if an earlier one stays.
local function renew_entry(call, claim, entry, interface, is_kept)
  entry.user_name, entry.message = call.request.user_name, claim.message
  entry.work_branch = call.request.work_branch ~= '' and call.request.work_branch or nil
  entry.task = claim.task or entry.task
  if interface then
    entry.interface = interface == 'keeps' and interface or nil
  end
  entry.shared = call.policy.kinds[entry.file_path] == 'S' or (is_kept and entry.shared) or nil
  if entry.status == claim.wanted then
    entry.intent_id = call.gate.intent ~= '' and call.gate.intent or nil
  end
  -- The claim of its task may last longer.
  local task_expiry_ms = entry.task and entry.expiry_ms or 0
  entry.timestamp, entry.expiry_ms = call.now, math.max(task_expiry_ms, call.now_ms + claim.ttl * 1000)
  entry.expiry = math.floor(entry.expiry_ms / 1000)
end

-- The entry as JSON. The answer has its notices, so the store can drop them.
local function entry_with_notices(call, entry)
  if not entry.notices then
    return Entries.to_json(call, entry)
  end
  local json = cjson.encode(entry)
  entry.notices = nil
  return json
end

-- Writes the caller's entries into entries_of. Returns those that are granted and those that are renewed; all of them as JSON; and the
-- `cost` of the answer, nil if it is low.
local function write_entries(call, claim, is_kept)
  local wanted, own = claim.wanted, claim.surveyed[4]
  -- The remote branch was at `head` when this was granted. A release compares the pushed work with that commit, even if the
  -- working copy is ahead of it.
  local granted_head = wanted == 'WRITING' and call.head.commit or claim.agent_head
  local granted, renewed, own_entries, token = {}, {}, {}, nil
  local neighbor_count, largest_count, hub = 0, 0, nil -- neighbors of all files, those of the file with most, and that file
  for _, path in ipairs(claim.paths) do
    local entry = own[path]
    local is_taken_over = entry ~= nil and not Request.is_own(call, entry)
    if call.request.takes_over then
      drop_other_lock(call, path, entry)
    end
    if is_taken_over or not is_kept[path] then
      token = token or Tokens.next(call)
    end
    if is_taken_over then
      entry.agent_id, entry.token, entry.granted_at = agent_or_nil(call), token, call.now
    end
    if not is_kept[path] then
      entry = entry or add_entry(call, claim, path)
      entry.status, entry.token, entry.agent_head, entry.granted_at = wanted, token, granted_head, call.now
    end
    local interface = claim.interface_of(path)
    local declares = wanted == 'WRITING' and (interface ~= '' or not is_kept[path])
    local count = declares and count_blocked(call, wanted, entry, interface, is_kept[path]) or 0
    neighbor_count = neighbor_count + count
    if count > largest_count then
      largest_count, hub = count, path
    end
    renew_entry(call, claim, entry, declares and interface or nil, is_kept[path])
    table.insert(is_kept[path] and not is_taken_over and renewed or granted, entry)
    own_entries[#own_entries + 1] = entry_with_notices(call, entry)
    call.is_changed[path] = true
  end
  local cost
  if neighbor_count > 20 then
    cost = { neighbors = neighbor_count, file_path = hub, blocks_always = call.policy.neighbors == 'block' }
  end
  return granted, renewed, own_entries, cost
end

-- Grants the claim. Nil, the caller's entries as JSON, and the `cost` of the answer; or the reply MARK_FIRST or FULL.
local function grant(call, claim, is_kept)
  local paths = claim.paths
  if DueMark.lacks_mark(call, claim.ttl) then
    LockChanges.save(call)
    return { 'MARK_FIRST', call.now }
  end
  local takes_ownership = call.gate.is_judged and call.gate.id
  local full_part, full_file = reserve(call, claim, takes_ownership)
  if full_part then
    LockChanges.save(call)
    Refusal.emit(call, claim.wanted, claim.message, paths, 'FULL')
    return Answer.reply(call, 'FULL', { part = full_part, file = full_file })
  end
  DueMark.note_mark(call, claim.ttl)
  local granted, renewed, own_entries, cost = write_entries(call, claim, is_kept)
  LockChanges.save(call)
  if call.request.queue then
    Queue.leave(call, paths, claim.wanted, is_kept)
  end
  if takes_ownership then
    Gate.grant(call)
  end
  if #granted > 0 then
    Releases.forget(call, paths)
  end
  LockChanges.emit_by_claim(call, 'lock_granted', granted)
  LockChanges.emit_by_claim(call, 'lock_renewed', renewed)
  return nil, own_entries, cost
end

-- Claims the files of `claim`: `paths`, `wanted`; `interface_of`: what Blocking.interfaces() returns; `surveyed`: what Survey.of() returns
-- for the paths; `agent_head`; `message`; `ttl`: seconds; `repository`; `lookups` of builds/spelling, or ''; `task`: TEAM/ID of the task
-- that they are claimed with, or nil. Returns a reply to the whole request; or nil, the outcome, CLAIMED, REFUSED (by intents), CONFLICT or
-- STALE, and what Answer.of() returns, with `held`: the caller's earlier locks, each { file path, status, time of the grant, message, the
-- agent from which it is taken over or '' }; `queue`: what Queue.enqueue() returns; and `cost` of the claim to others: `neighbors`,
-- `file_path` of the file with most of them, and `blocks_always` if it blocks them even where it keeps the interface.
function ClaimFiles.claim(call, claim)
  local denial = judge_by_intents(call, claim)
  if denial then
    return denial
  end
  local prior_locks, is_kept, is_renewal = compare_own(call, claim)

  -- A renewal is granted even behind the branch, so it does not ask the source.
  local behind, needs_source = Behind.compare_heads(call)
  if needs_source and not is_renewal and not call.gate.is_refused then
    LockChanges.save(call)
    return Behind.ask_source(call)
  end
  local version, lookups = GraphAge.version(call), claim.lookups
  local spellings = (version == '' or lookups == '') and {} or BuildSpelling.other_spellings(call, claim.paths, lookups)

  local findings, is_blocked, omitted = unpack(claim.surveyed, 1, 3)
  local is_stale = claim.wanted == 'WRITING' and behind ~= '0' and not is_renewal
  local outcome = 'CLAIMED'
  local reply, own_entries, queue_position, cost
  if call.gate.is_refused or is_stale or is_blocked then
    outcome, own_entries, queue_position = refuse(call, claim, is_stale)
  else
    reply, own_entries, cost = grant(call, claim, is_kept)
  end
  if reply then
    return reply
  end
  local answer = Answer.of(call, behind, version, omitted, findings, own_entries, spellings)
  answer.held, answer.queue, answer.cost = Answer.some(prior_locks), queue_position, cost
  return nil, outcome, answer
end

return ClaimFiles
