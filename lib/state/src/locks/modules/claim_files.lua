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

-- Claims the files of `claim`: `paths`, `wanted`; `interface_of`: what Blocking.interfaces() returns; `surveyed`: what Survey.of() returns
-- for the paths; `agent_head`; `message`; `ttl`: seconds; `repository`; `lookups` of builds/spelling, or ''; `task`: TEAM/ID of the task
-- that they are claimed with, or nil. Returns a reply to the whole request; or nil, the outcome, CLAIMED, REFUSED (by intents), CONFLICT or
-- STALE, and what Answer.of() returns, with `held`: the caller's earlier locks, each { file path, status, time of the grant, message, the
-- agent from which it is taken over or '' }; `queue`: what Queue.enqueue() returns; and `cost` of the claim to others: `neighbors`,
-- `file_path` of the file with most of them, and `is_whatever_changes` if it blocks them even where it keeps the interface.
function ClaimFiles.claim(call, claim)
  local paths, wanted, neighbor_policy, interface_of = claim.paths, claim.wanted, call.policy.neighbors, claim.interface_of
  local message, ttl, repository, lookups = claim.message, claim.ttl, claim.repository, claim.lookups
  if wanted == 'WRITING' and #paths > 0 and (call.governed or call.gate.is_required or call.gate.cited ~= '') then
    local denial = Gate.judge_claim(call, paths)
    if denial then
      return denial
    end
  elseif call.governed and call.gate.cited ~= '' and Gate.is_citation_valid(call) then
    call.gate.intent = call.gate.cited
  end
  local findings, is_blocked, omitted, own = unpack(claim.surveyed)
  local prior_locks, is_kept, is_renewal = {}, {}, true
  for _, path in ipairs(paths) do
    local entry = own[path]
    if entry then
      local taken_from = Request.is_own(call, entry) and '' or entry.agent_id
      prior_locks[#prior_locks + 1] = { path, entry.status, entry.granted_at or entry.timestamp, entry.message, taken_from }
    end
    -- A writer that claims for reading keeps its lock for writing: it still has to push its work.
    is_kept[path] = entry ~= nil and (entry.status == wanted or entry.status == 'WRITING')
    is_renewal = is_renewal and is_kept[path]
  end

  -- A renewal is granted even behind the branch, so it does not ask the source.
  local behind, needs_source = Behind.compare_heads(call)
  if needs_source and not is_renewal and not call.gate.is_refused then
    LockChanges.save(call)
    return Behind.ask_source(call)
  end
  local version = GraphAge.version(call)
  local spellings = (version == '' or lookups == '') and {} or BuildSpelling.other_spellings(call, paths, lookups)
  local own_entries, queue_position, cost = {}, nil, nil
  local function finish(outcome)
    local answer = Answer.of(call, behind, version, omitted, findings, own_entries, spellings)
    answer.held, answer.queue, answer.cost = Answer.some(prior_locks), queue_position, cost
    return nil, outcome, answer
  end

  local is_stale = wanted == 'WRITING' and behind ~= '0' and not is_renewal
  if call.gate.is_refused or is_stale or is_blocked then
    local conflicts, is_named = {}, {}
    -- There is no queue for pending changes: it is unknown when a person merges them.
    local may_wait = not is_stale
    for _, finding in ipairs(findings) do
      local entry = finding.blocks and cjson.decode(finding.entry)
      may_wait = may_wait and not (entry and finding.relation == 'PENDING')
      if entry and not is_named[entry.file_path] then
        is_named[entry.file_path] = true
        conflicts[#conflicts + 1] = entry.file_path
      end
    end
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
      return finish('REFUSED')
    end
    local outcome = is_stale and 'STALE' or 'CONFLICT'
    if may_wait then
      queue_position = Queue.enqueue(call, paths, wanted, message, neighbor_policy, Survey.keeps_all(paths, interface_of), findings)
    elseif call.request.queue then
      Queue.leave_others(call, paths)
    end
    Refusal.emit(call, wanted, message, paths, outcome, is_blocked and conflicts or nil)
    return finish(outcome)
  end

  if DueMark.lacks_mark(call, ttl) then
    LockChanges.save(call)
    return { 'MARK_FIRST', call.now }
  end
  local full_part, full_file
  local takes_ownership = call.gate.is_judged and call.gate.id
  if takes_ownership then
    full_part, full_file = Gate.reserve_owners(call, paths)
  end
  if not full_part then
    full_part, full_file = Reserve.locks(call, paths, own, repository .. ':' .. call.request.branch .. ':', message)
  end
  if full_part then
    LockChanges.save(call)
    Refusal.emit(call, wanted, message, paths, 'FULL')
    return Answer.reply(call, 'FULL', { part = full_part, file = full_file })
  end
  DueMark.note_mark(call, ttl)

  -- The remote branch was at `head` when this was granted. A release compares the pushed work with that commit, even if the
  -- working copy is ahead of it.
  local granted_head = wanted == 'WRITING' and call.head.commit or claim.agent_head
  local granted, renewed, token = {}, {}, nil
  local neighbor_count, largest_count, hub = 0, 0, nil -- neighbors of all files, those of the file with most, and that file
  -- Counts the files that the lock newly blocks for others.
  local function count_cost(path, entry, interface)
    local blocks = Blocking.is_blocking(wanted, 'NEIGHBOR', wanted, neighbor_policy, false, interface == 'keeps')
    local blocked_before = is_kept[path] and (neighbor_policy == 'block' or entry.interface ~= 'keeps')
    local count = blocks and not blocked_before and tonumber(call.is_tracked[path]) or 0
    neighbor_count = neighbor_count + count
    if count > largest_count then
      largest_count, hub = count, path
    end
  end
  for _, path in ipairs(paths) do
    local entry = own[path]
    local is_taken_over = entry ~= nil and not Request.is_own(call, entry)
    if call.request.takes_over then
      -- Both agents may hold the file: the lock that is not renewed goes.
      local remaining = {}
      for _, other in ipairs(call.entries_of[path]) do
        if
          other ~= entry
          and other.branch == call.request.branch
          and (Request.is_own(call, other) or Survey.is_taken_over(call, other))
        then
          Held.count_out(call, other)
        else
          remaining[#remaining + 1] = other
        end
      end
      call.entries_of[path] = remaining
    end
    if is_taken_over then
      token = token or Tokens.next(call)
      entry.agent_id, entry.token, entry.granted_at = call.request.agent_id ~= '' and call.request.agent_id or nil, token, call.now
    end
    if not is_kept[path] then
      token = token or Tokens.next(call)
      if not entry then
        entry = {
          key = repository .. ':' .. call.request.branch .. ':' .. path,
          file_path = path,
          branch = call.request.branch,
          user_id = call.request.user_id,
          agent_id = call.request.agent_id ~= '' and call.request.agent_id or nil,
        }
        table.insert(call.entries_of[path], entry)
      end
      entry.status, entry.token, entry.agent_head, entry.granted_at = wanted, token, granted_head, call.now
    end
    entry.user_name, entry.message = call.request.user_name, message
    entry.work_branch = call.request.work_branch ~= '' and call.request.work_branch or nil
    entry.task = claim.task or entry.task
    local interface = interface_of(path)
    if wanted == 'WRITING' and (interface ~= '' or not is_kept[path]) then
      count_cost(path, entry, interface)
      entry.interface = interface == 'keeps' and interface or nil
    end
    entry.shared = call.policy.kinds[path] == 'S' or (is_kept[path] and entry.shared) or nil
    if entry.status == wanted then
      entry.intent_id = call.gate.intent ~= '' and call.gate.intent or nil
    end
    -- The claim of its task may last longer.
    local task_expiry_ms = entry.task and entry.expiry_ms or 0
    entry.timestamp, entry.expiry_ms = call.now, math.max(task_expiry_ms, call.now_ms + ttl * 1000)
    entry.expiry = math.floor(entry.expiry_ms / 1000)
    table.insert(is_kept[path] and not is_taken_over and renewed or granted, entry)
    if entry.notices then
      -- The answer has the notices, so the store can drop them.
      own_entries[#own_entries + 1] = cjson.encode(entry)
      entry.notices = nil
    else
      own_entries[#own_entries + 1] = Entries.to_json(call, entry)
    end
    call.is_changed[path] = true
  end
  if neighbor_count > 20 then
    cost = { neighbors = neighbor_count, file_path = hub, is_whatever_changes = neighbor_policy == 'block' }
  end
  LockChanges.save(call)
  if call.request.queue then
    Queue.leave(call, paths, wanted, is_kept)
  end
  if takes_ownership then
    Gate.grant(call)
  end
  if #granted > 0 then
    Releases.forget(call, paths)
  end
  LockChanges.emit_by_claim(call, 'lock_granted', granted)
  LockChanges.emit_by_claim(call, 'lock_renewed', renewed)
  return finish('CLAIMED')
end

return ClaimFiles
