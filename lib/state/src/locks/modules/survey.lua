-- The locks and the tickets that block the caller.
local Blocking = require('locks/blocking')
local Entries = require('locks/entries')
local GraphAge = require('builds/graph_age')
local Neighbors = require('locks/neighbors')
local PendingFindings = require('locks/pending_findings')
local Queue = require('locks/queue')
local Request = require('admission/request')

local Survey = {}

-- Whether the caller keeps the interfaces of all of these files.
function Survey.keeps_all(paths, interface_of)
  for _, path in ipairs(paths) do
    if interface_of(path) ~= 'keeps' then
      return false
    end
  end
  return true
end

-- Whether `entry` is a lock of the agent whose locks the caller takes over.
function Survey.is_taken_over(call, entry)
  return call.request.takes_over ~= nil
    and entry.agent_id == call.request.takes_over
    and entry.user_id == call.request.user_id
    and entry.branch == call.request.branch
end

-- Maximum findings in one response, maximum bytes of their JSON, and maximum neighbors among them. Those that block come
-- first, and the first one is always included; the rest is counted.
local MAX_FINDINGS, MAX_FINDING_BYTES, MAX_NEIGHBORS = 512, 524288, 256

-- Others' locks on `neighbors`, whose ranks (neighbors.lua) refer to `paths`: lists of findings that block and that do not,
-- and the number of omitted locks. Only reported entries are decoded. `is_writing`: files that the caller already writes.
local function survey_neighbors(call, neighbors, rank_of, paths, wanted, neighbor_policy, is_writing, interface_of)
  local blocking, harmless, keeping, later, omitted = {}, {}, {}, {}, 0
  local on_branch = Entries.field('branch', call.request.branch)
  local writes, keeps = Entries.field('status', 'WRITING'), Entries.field('interface', 'keeps')
  local function may_block(path, status, keeps_interface)
    local via = paths[math.floor(rank_of[path] / 2)]
    local both_keep = keeps_interface and interface_of(via) == 'keeps'
    return not is_writing[via] and Blocking.is_blocking(wanted, 'NEIGHBOR', status, neighbor_policy, false, both_keep)
  end
  local function add_findings(path, value)
    Entries.load_value(call, path, value)
    for _, entry in ipairs(call.entries_of[path]) do
      if entry.branch == call.request.branch and not Request.is_own(call, entry) and not Survey.is_taken_over(call, entry) then
        local via, sign = paths[math.floor(rank_of[path] / 2)], rank_of[path] % 2 == 0 and '>' or '<'
        local blocks = may_block(path, entry.status, entry.interface == 'keeps')
        table.insert(blocks and blocking or harmless, { relation = 'NEIGHBOR', blocks = blocks, via = via, sign = sign, entry = entry })
      end
    end
  end
  Entries.each_value(call, neighbors, function(path, value)
    if not value or not Entries.any_has(value, on_branch) then
      return
    end
    -- Next to a file whose interface the caller keeps, an entry that keeps its own interface does not block. Most files have a single
    -- entry; if that one keeps its interface, the search ends.
    local ignores_keeping = not may_block(path, 'WRITING', true)
    local is_kept = ignores_keeping and Entries.any_has(value, keeps)
    local is_single = is_kept and Entries.is_single(value)
    local may_write = (is_single or Entries.may_write(value)) and may_block(path, 'WRITING')
    if #blocking >= MAX_NEIGHBORS then
      omitted = omitted + 1
    elseif may_write and not is_single and Entries.one_has(value, on_branch, writes, ignores_keeping and keeps or nil) then
      add_findings(path, value)
    else
      local list = is_kept and may_write and #keeping < MAX_NEIGHBORS and keeping or later
      if #list < MAX_NEIGHBORS then
        list[#list + 1] = { path, value }
      else
        omitted = omitted + 1
      end
    end
  end)
  for _, list in ipairs({ keeping, later }) do
    for _, pair in ipairs(list) do
      if #blocking + #harmless < MAX_NEIGHBORS then
        add_findings(unpack(pair))
      else
        omitted = omitted + 1
      end
    end
  end
  return blocking, harmless, omitted
end

-- The findings in `lists` that fit into a response, with entries as JSON, and the number of omitted ones.
local function report(lists)
  local findings, bytes, neighbor_count, omitted = {}, 0, 0, 0
  for _, list in ipairs(lists) do
    for _, finding in ipairs(list) do
      local is_neighbor = finding.relation == 'NEIGHBOR'
      neighbor_count = neighbor_count + (is_neighbor and 1 or 0)
      local has_room = #findings < MAX_FINDINGS and bytes < MAX_FINDING_BYTES and not (is_neighbor and neighbor_count > MAX_NEIGHBORS)
      local json = has_room and cjson.encode(finding.entry)
      if json and (#findings == 0 or bytes + #json <= MAX_FINDING_BYTES) then
        bytes = bytes + #json
        finding.entry = json
        findings[#findings + 1] = finding
      else
        omitted = omitted + 1
      end
    end
  end
  return findings, omitted
end

-- Surveys `paths` and their neighbors. `interface_of`: what Blocking.interfaces() returns. Returns:
--   findings: each with `relation`, `blocks`, `via`: the requested file, `sign`: '>' or '<', or '=' on a shared file, `entry` as JSON;
--             the relation is DIRECT, NEIGHBOR or CROSS_BRANCH of a lock, RESERVED or WAITING of a ticket (locks/queue), PENDING or
--             PENDING_INTERFACE of a pending change
--   blocked:  whether any of them blocks
--   omitted:  number of locks left out of findings; for very many neighbors, the number of files
--   own:      file path -> the caller's own entry on this branch, or the one that it takes over
-- or nil and the part that is too much: LOCKS on the files, or NEIGHBORS
function Survey.of(call, paths, wanted, neighbor_policy, interface_of)
  local stored = Entries.load(call, paths, Entries.MAX_AT_ONCE)
  if not stored then
    return nil, 'LOCKS'
  end
  local own, is_writing = {}, {}
  local blocking, harmless, elsewhere = {}, {}, {}
  if stored > 0 then
    for _, path in ipairs(paths) do
      local others, is_shared = {}, call.policy.kinds[path] == 'S'
      for _, entry in ipairs(call.entries_of[path]) do
        if not Request.is_own(call, entry) and not Survey.is_taken_over(call, entry) then
          others[#others + 1] = entry
        elseif entry.branch == call.request.branch and not (own[path] and own[path].status == 'WRITING') then
          -- Others can hold the caller's files only if these were shared at the grant; so they stay shared until one holder is done.
          own[path], is_shared = entry, is_shared or entry.status == 'WRITING'
          -- If the caller no longer keeps an interface, neighbors can block the lock as if it were new.
          is_writing[path] = entry.status == 'WRITING' and not (interface_of(path) == 'changes' and entry.interface == 'keeps')
        end
      end
      for _, entry in ipairs(others) do
        if entry.branch ~= call.request.branch then
          elsewhere[#elsewhere + 1] = { relation = 'CROSS_BRANCH', blocks = false, via = path, entry = entry }
        else
          local blocks = Blocking.is_blocking(wanted, 'DIRECT', entry.status, neighbor_policy, is_shared)
          local sign = is_shared and '=' or nil
          table.insert(blocks and blocking or harmless, { relation = 'DIRECT', blocks = blocks, via = path, sign = sign, entry = entry })
        end
      end
    end
  end
  -- No neighbor blocks the renewal of a lock for writing, and fewer block a caller that keeps an interface. A neighbor of several files
  -- counts for the first of them: so the files that are easiest to block come first.
  local in_order = #paths == 1 and paths or {}
  for rank = 1, #paths > 1 and 3 or 0 do
    for _, path in ipairs(paths) do
      local own_rank = is_writing[path] and 3 or interface_of(path) == 'keeps' and 2 or 1
      if own_rank == rank then
        in_order[#in_order + 1] = path
      end
    end
  end

  local neighbors, rank_of = {}, {}
  if neighbor_policy ~= 'off' then
    neighbors, rank_of = Neighbors.find(call, in_order, stored)
  end
  if not neighbors then
    return nil, 'NEIGHBORS'
  end
  local may_be_pending = #paths > 0 and (GraphAge.load(call)[5] or '') ~= ''
  if stored == 0 and #neighbors == 0 and not call.request.queue and not may_be_pending then
    return {}, false, 0, own
  end
  local near_blocking, near_harmless, left_out = {}, {}, 0
  if #neighbors > 0 then
    near_blocking, near_harmless, left_out =
      survey_neighbors(call, neighbors, rank_of, in_order, wanted, neighbor_policy, is_writing, interface_of)
  end
  local reserved, waited_for = {}, {}
  if call.request.queue then
    reserved, waited_for = Queue.findings(call, paths, wanted, neighbor_policy, Survey.keeps_all(paths, interface_of), own)
  end
  local pending_blocking, pending_harmless, pending_imported = {}, {}, {}
  if may_be_pending then
    pending_blocking, pending_harmless = PendingFindings.findings(call, paths, wanted, is_writing)
    pending_imported = neighbor_policy ~= 'off' and PendingFindings.imported(call, paths) or {}
  end
  local findings, omitted = report({
    blocking,
    near_blocking,
    reserved,
    pending_blocking,
    pending_harmless,
    pending_imported,
    harmless,
    waited_for,
    elsewhere,
    near_harmless,
  })
  return findings, #blocking + #near_blocking + #reserved + #pending_blocking > 0, omitted + left_out, own
end

return Survey
