-- The claim of files: all of `paths`, or none. Joined where it is made; it returns from the script unless they are granted. Needs:
-- claiming, `interface_of`: what read_interface() gives, `surveyed`: what survey() gives of `paths`, `wanted`, `neighbor_policy`, `agent_head`, `message`, `ttl`, `repository`, `lookups` of builds/spelling or '';
-- ended(answer): what the script returns then. `claimed('CLAIMED')` is the answer behind it:
--   { outcome, now, head, its age in seconds or '', '1' if it is unconfirmed, behind: '0', '1' or '?', graph version, number of
--   omitted neighbors, findings, own entries as JSON, the result of other_spellings(), the caller's earlier locks: list of { file
--   path, status, time of the grant, message, the agent from which it is taken over or '' }, the intent that is cited or selected, or '', the findings of locks/gate_request, the place
--   in the queue that ask() of locks/queue gives, or {}, and what the claim costs others: { files, the one with most neighbors, '1' if
--   it keeps them out whatever it changes }, or {} }
if wanted == 'WRITING' and #paths > 0 and (governed or gate.policy == 'required' or gate.cited ~= '') then
  -- @include locks/gate_claim
elseif governed and gate.cited ~= '' and redis.call('HEXISTS', keys.intents, gate.cited) == 1 then
  -- Reading takes no intent, but may say what it is for.
  gate.intent = gate.cited
end
local findings, blocked, omitted, own = unpack(surveyed)
local held, is_kept, is_renewal = {}, {}, true
for _, path in ipairs(paths) do
  local entry = own[path]
  if entry then
    local giver = is_own(entry) and '' or entry.agent_id
    held[#held + 1] = { path, entry.status, entry.granted_at or entry.timestamp, entry.message, giver }
  end
  -- A writer that asks to read goes on writing: its work still has to be pushed.
  is_kept[path] = entry ~= nil and (entry.status == wanted or entry.status == 'WRITING')
  is_renewal = is_renewal and is_kept[path]
end

-- A renewal is granted behind the branch too, so the source is not asked for its sake.
local behind, is_for_source = is_behind_head()
if is_for_source and not is_renewal and not gate.is_refused then
  save_entries()
  return ask_source()
end
local version = graph_version()
local spellings = (version == '' or lookups == '') and {} or other_spellings(paths, lookups)
local own_entries, told = {}, { queue = {}, cost = {} }
local function claimed(outcome)
  return {
    outcome, now, head.commit, head.age, head.is_unconfirmed, behind, version, omitted, findings, own_entries,
    spellings, held, gate.intent, gate.findings, told.queue, told.cost,
  }
end

local is_stale = wanted == 'WRITING' and behind ~= '0' and not is_renewal
if gate.is_refused or is_stale or blocked then
  local conflicts, is_named = {}, {}
  -- Nobody waits in a row for what is merged by a person some day.
  local may_wait = not is_stale
  for _, finding in ipairs(findings) do
    local entry = finding[2] == '1' and cjson.decode(finding[5])
    may_wait = may_wait and not (entry and finding[1] == 'PENDING')
    if entry and not is_named[entry.file_path] then
      is_named[entry.file_path] = true
      conflicts[#conflicts + 1] = entry.file_path
    end
  end
  for _, path in ipairs(paths) do
    own_entries[#own_entries + 1] = own[path] and cjson.encode(own[path])
  end
  save_entries()
  if gate.is_refused then
    if not gate.is_quiet then
      gate.refuse()
    end
    if request.queue then
      open_queue().leave_for(paths)
    end
    return ended(claimed('REFUSED'))
  end
  local outcome = is_stale and 'STALE' or 'CONFLICT'
  if may_wait then
    told.queue = open_queue().ask(paths, wanted, message, neighbor_policy, keeps_all(paths, interface_of), findings)
  elseif request.queue then
    open_queue().leave_for(paths)
  end
  emit_refusal(wanted, message, paths, outcome, blocked and conflicts or nil)
  return ended(claimed(outcome))
end

if lacks_mark(ttl) then
  save_entries()
  return { 'MARK_FIRST', now }
end
local full, full_file
if gate.reserve then
  full, full_file = gate.reserve()
end
if not full then
  full, full_file = reserve(paths, entries_of, own, repository .. ':' .. request.branch .. ':', message)
end
if full then
  save_entries()
  emit_refusal(wanted, message, paths, 'FULL')
  return { 'FULL', now, full, full_file }
end
note_mark(ttl)

-- The remote branch was at `head` when this was granted. A release compares the pushed work with that commit, even if the
-- working copy is ahead of it.
local granted_head = wanted == 'WRITING' and head.commit or agent_head
local granted, renewed, token = {}, {}, nil
-- Counts what the lock on the file keeps others from writing, if it did not do so before.
told.count = function(path, entry, interface)
  local blocks = is_blocking(wanted, 'NEIGHBOR', wanted, neighbor_policy, false, interface == 'keeps')
  local did = is_kept[path] and (neighbor_policy == 'block' or entry.interface ~= 'keeps')
  local count = blocks and not did and tonumber(is_tracked[path]) or 0
  told.near = (told.near or 0) + count
  if count > (told.most or 0) then
    told.most, told.hub = count, path
  end
end
for _, path in ipairs(paths) do
  local entry = own[path]
  local is_taken_over = entry ~= nil and not is_own(entry)
  if request.takes_over then
    -- The other one of the two that may be there.
    local left = {}
    for _, one in ipairs(entries_of[path]) do
      if one ~= entry and one.branch == request.branch and (is_own(one) or is_given(one)) then
        count_out(one)
      else
        left[#left + 1] = one
      end
    end
    entries_of[path] = left
  end
  if is_taken_over then
    token = token or next_token()
    entry.agent_id, entry.token, entry.granted_at = request.agent_id ~= '' and request.agent_id or nil, token, now
  end
  if not is_kept[path] then
    token = token or next_token()
    if not entry then
      entry = {
        key = repository .. ':' .. request.branch .. ':' .. path,
        file_path = path,
        branch = request.branch,
        user_id = request.user_id,
        agent_id = request.agent_id ~= '' and request.agent_id or nil,
      }
      table.insert(entries_of[path], entry)
    end
    entry.status, entry.token, entry.agent_head, entry.granted_at = wanted, token, granted_head, now
  end
  entry.user_name, entry.message = request.user_name, message
  entry.work_branch = request.work_branch ~= '' and request.work_branch or nil
  entry.task = of_task or entry.task
  local interface = interface_of(path)
  if wanted == 'WRITING' and (interface ~= '' or not is_kept[path]) then
    told.count(path, entry, interface)
    entry.interface = interface == 'keeps' and interface or nil
  end
  entry.shared = policy.kinds[path] == 'S' or (is_kept[path] and entry.shared) or nil
  if entry.status == wanted then
    entry.intent_id = gate.intent ~= '' and gate.intent or nil
  end
  -- The claim of its task may hold it for longer.
  local least = entry.task and entry.expiry_ms or 0
  entry.timestamp, entry.expiry_ms = now, math.max(least, now_ms + ttl * 1000)
  entry.expiry = math.floor(entry.expiry_ms / 1000)
  table.insert(is_kept[path] and not is_taken_over and renewed or granted, entry)
  if entry.notices then
    -- The answer has what is told now, and the store keeps it no longer.
    own_entries[#own_entries + 1] = cjson.encode(entry)
    entry.notices = nil
  else
    own_entries[#own_entries + 1] = to_json(entry)
  end
  is_changed[path] = true
end
if (told.near or 0) > 20 then
  told.cost = { told.near, told.hub, neighbor_policy == 'block' and '1' or '0' }
end
save_entries()
if request.queue then
  open_queue().leave(paths, wanted, is_kept)
end
if gate.grant then
  gate.grant()
end
if #granted > 0 then
  forget_releases(paths)
end
emit_by_claim('lock_granted', granted)
emit_by_claim('lock_renewed', renewed)
