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

-- Claims the files of `claim`: `paths`, `wanted`; `interface_of`: what Blocking.interfaces() returns; `surveyed`: what Survey.of() returns for the
-- paths; `agent_head`; `message`; `ttl`: seconds; `repository`; `lookups` of builds/spelling, or ''; `task`: TEAM/ID of the task that
-- they are claimed with, or nil. Returns a reply of the whole request; or nil, the outcome, CLAIMED, REFUSED (by intents), CONFLICT or
-- STALE, and what Answer.of() returns, with `held`: the caller's earlier locks, each { file path, status, time of the grant, message, the
-- agent from which it is taken over or '' }; `queue`: the place that Queue.ask() returns; and `cost`: what the claim costs others,
-- `neighbors`, `file_path` of the one with most of them, and `is_whatever_changes` if it blocks them whatever it changes.
function ClaimFiles.claim(call, claim)
  local paths, wanted, neighbor_policy, interface_of = claim.paths, claim.wanted, call.policy.neighbors, claim.interface_of
  local message, ttl, repository, lookups = claim.message, claim.ttl, claim.repository, claim.lookups
  if wanted == 'WRITING' and #paths > 0 and (call.governed or call.gate.is_required or call.gate.cited ~= '') then
    local denial = Gate.judge_claim(call, paths)
    if denial then
      return denial
    end
  elseif call.governed and call.gate.cited ~= '' and Gate.knows(call) then
    call.gate.intent = call.gate.cited
  end
  local findings, blocked, omitted, own = unpack(claim.surveyed)
  local held, is_kept, is_renewal = {}, {}, true
  for _, path in ipairs(paths) do
    local entry = own[path]
    if entry then
      local giver = Request.is_own(call, entry) and '' or entry.agent_id
      held[#held + 1] = { path, entry.status, entry.granted_at or entry.timestamp, entry.message, giver }
    end
    -- A writer that asks to read goes on writing: its work still has to be pushed.
    is_kept[path] = entry ~= nil and (entry.status == wanted or entry.status == 'WRITING')
    is_renewal = is_renewal and is_kept[path]
  end

  -- A renewal is granted behind the branch too, so the source is not asked for its sake.
  local behind, is_for_source = Behind.is_behind(call)
  if is_for_source and not is_renewal and not call.gate.is_refused then
    LockChanges.save(call)
    return Behind.ask_source(call)
  end
  local version = GraphAge.version(call)
  local spellings = (version == '' or lookups == '') and {} or BuildSpelling.other_spellings(call, paths, lookups)
  local own_entries, queued, cost = {}, nil, nil
  local function claimed(outcome)
    local answer = Answer.of(call, behind, version, omitted, findings, own_entries, spellings)
    answer.held, answer.queue, answer.cost = Answer.some(held), queued, cost
    return nil, outcome, answer
  end

  local is_stale = wanted == 'WRITING' and behind ~= '0' and not is_renewal
  if call.gate.is_refused or is_stale or blocked then
    local conflicts, is_named = {}, {}
    -- There is no queue for changes that a person will merge some day.
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
        Queue.leave_for(call, paths)
      end
      return claimed('REFUSED')
    end
    local outcome = is_stale and 'STALE' or 'CONFLICT'
    if may_wait then
      queued = Queue.ask(call, paths, wanted, message, neighbor_policy, Survey.keeps_all(paths, interface_of), findings)
    elseif call.request.queue then
      Queue.leave_for(call, paths)
    end
    Refusal.emit(call, wanted, message, paths, outcome, blocked and conflicts or nil)
    return claimed(outcome)
  end

  if DueMark.lacks_mark(call, ttl) then
    LockChanges.save(call)
    return { 'MARK_FIRST', call.now }
  end
  local full, full_file
  local takes_owners = call.gate.is_judged and call.gate.id
  if takes_owners then
    full, full_file = Gate.reserve_owners(call, paths)
  end
  if not full then
    full, full_file = Reserve.locks(call, paths, own, repository .. ':' .. call.request.branch .. ':', message)
  end
  if full then
    LockChanges.save(call)
    Refusal.emit(call, wanted, message, paths, 'FULL')
    return Answer.reply(call, 'FULL', { part = full, file = full_file })
  end
  DueMark.note_mark(call, ttl)

  -- The remote branch was at `head` when this was granted. A release compares the pushed work with that commit, even if the
  -- working copy is ahead of it.
  local granted_head = wanted == 'WRITING' and call.head.commit or claim.agent_head
  local granted, renewed, token = {}, {}, nil
  local near, most, hub = 0, 0, nil -- neighbors of all files, the most of one, and that file
  -- Counts the files that the lock blocks for others, if it did not do so before.
  local function count_cost(path, entry, interface)
    local blocks = Blocking.is_blocking(wanted, 'NEIGHBOR', wanted, neighbor_policy, false, interface == 'keeps')
    local did = is_kept[path] and (neighbor_policy == 'block' or entry.interface ~= 'keeps')
    local count = blocks and not did and tonumber(call.is_tracked[path]) or 0
    near = near + count
    if count > most then
      most, hub = count, path
    end
  end
  for _, path in ipairs(paths) do
    local entry = own[path]
    local is_taken_over = entry ~= nil and not Request.is_own(call, entry)
    if call.request.takes_over then
      -- The other one of the two that may be there.
      local left = {}
      for _, one in ipairs(call.entries_of[path]) do
        if one ~= entry and one.branch == call.request.branch and (Request.is_own(call, one) or Survey.is_given(call, one)) then
          Held.count_out(call, one)
        else
          left[#left + 1] = one
        end
      end
      call.entries_of[path] = left
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
    -- The claim of its task may hold it for longer.
    local least = entry.task and entry.expiry_ms or 0
    entry.timestamp, entry.expiry_ms = call.now, math.max(least, call.now_ms + ttl * 1000)
    entry.expiry = math.floor(entry.expiry_ms / 1000)
    table.insert(is_kept[path] and not is_taken_over and renewed or granted, entry)
    if entry.notices then
      -- The answer contains the notices now, and the store drops them.
      own_entries[#own_entries + 1] = cjson.encode(entry)
      entry.notices = nil
    else
      own_entries[#own_entries + 1] = Entries.to_json(call, entry)
    end
    call.is_changed[path] = true
  end
  if near > 20 then
    cost = { neighbors = near, file_path = hub, is_whatever_changes = neighbor_policy == 'block' }
  end
  LockChanges.save(call)
  if call.request.queue then
    Queue.leave(call, paths, wanted, is_kept)
  end
  if takes_owners then
    Gate.grant(call)
  end
  if #granted > 0 then
    Releases.forget(call, paths)
  end
  LockChanges.emit_by_claim(call, 'lock_granted', granted)
  LockChanges.emit_by_claim(call, 'lock_renewed', renewed)
  return claimed('CLAIMED')
end

return ClaimFiles
