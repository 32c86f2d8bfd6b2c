-- claim: takes all of some files for reading or writing, or none of them; claiming again renews.
-- KEYS: those of includes/enter.lua, then 1 locks, 2 expiries, 3 graph, 4 adjacency, 5 status log, 6 events channel,
--       7 held, 8 graph as JSON, 9 scan of the graph, 10 refusals, 11 token, 12 releases
-- ARGV: those of includes/enter.lua, then 1 READING or WRITING, 2 neighbour policy, 3 the caller's head, 4 message, 5 seconds
--       to hold, 6 repository, 7... file paths
-- Returns { outcome, now, head, its age in seconds or '', '1' if it is unconfirmed, behind: '0', '1' or '?', graph version, omitted
--           neighbours, findings, own entries as JSON, what was held before: list of { file path, status, since when, message } },
--           where outcome is CLAIMED, CONFLICT (nothing claimed) or STALE (writing what is not held yet, behind the branch;
--           nothing claimed)
--      or { FULL, now, what has no room for more locks: FILE, PERSON or REPOSITORY, that file or '' }; nothing claimed
--      or { TOO_MUCH, now, LOCKS or NEIGHBORS }: of which there are too many to look at; nothing claimed
--      or { ASK_SOURCE, now, head, its age, etag or '' }: whether the caller is behind, only the source can tell; nothing claimed
--      or { MARK_FIRST, now }: it would be granted once mark_due has run; nothing claimed
--      or one of the answers of enter(); nothing claimed
local token_key
locks_key, expiries_key, graph_key, adjacency_key, status_log_key, events_channel, held_key, json_key, scan_key,
  refusals_key, token_key, releases_key = unpack(KEYS, ENTRY_KEYS + 1)
local wanted, neighbor_policy, agent_head, message, ttl, repository = unpack(ARGV, ENTRY_ARGUMENTS + 1, ENTRY_ARGUMENTS + 6)
local paths = arguments_from(ENTRY_ARGUMENTS + 7)

-- Seconds for which a mark is believed, should the list of what is due be lost.
local MARKED_FOR = 600

-- Whether the caller holds all of the files already.
local function holds_all()
  local is_held, seen = true, 0
  each_value(paths, function(_, value)
    local mine, entries = false, value and seen <= MOST_AT_ONCE and cjson.decode(value) or {}
    seen = seen + #entries
    for _, entry in ipairs(entries) do
      mine = mine or (entry.branch == branch and is_own(entry) and not has_expired(entry))
    end
    is_held = mine
    return mine
  end)
  return is_held
end

local stop = enter(holds_all)
if stop then
  return stop
end
local findings, blocked, omitted, own = survey(paths, wanted, neighbor_policy)
if not findings then
  return { 'TOO_MUCH', now, blocked }
end
local own_entries, held, is_kept, is_renewal = {}, {}, {}, true
for _, path in ipairs(paths) do
  local entry = own[path]
  if entry then
    own_entries[#own_entries + 1] = cjson.encode(entry)
    held[#held + 1] = { path, entry.status, entry.granted_at or entry.timestamp, entry.message }
  end
  -- Who writes a file and asks to read it goes on writing: what was written still has to be pushed.
  is_kept[path] = entry ~= nil and (entry.status == wanted or entry.status == 'WRITING')
  is_renewal = is_renewal and is_kept[path]
end

-- A renewal is granted behind the branch as well, so that for its sake nobody is asked.
local behind, is_for_source = is_behind_head()
if is_for_source and not is_renewal then
  save_entries()
  return ask_source()
end
local version = graph_version({ adjacency_key, json_key, scan_key })
local is_stale = wanted == 'WRITING' and behind ~= '0' and not is_renewal
if is_stale or blocked then
  local conflicts, is_named = {}, {}
  for _, finding in ipairs(findings) do
    local entry = finding[2] == '1' and cjson.decode(finding[5])
    if entry and not is_named[entry.file_path] then
      is_named[entry.file_path] = true
      conflicts[#conflicts + 1] = entry.file_path
    end
  end
  local outcome = is_stale and 'STALE' or 'CONFLICT'
  save_entries()
  emit_refusal(wanted, message, paths, outcome, blocked and conflicts or nil)
  return { outcome, now, repo_head, head_age, is_unconfirmed, behind, version, omitted, findings, own_entries, held }
end

-- The sweep must know of the repository before anything is held in it: see mark_due.lua.
if ARGV[5] ~= 'MARKED' and (not mark or tonumber(mark) > now + ttl) then
  save_entries()
  return { 'MARK_FIRST', now }
end
local full, full_file = reserve(paths, entries_of, own, repository .. ':' .. branch .. ':', message)
if full then
  save_entries()
  emit_refusal(wanted, message, paths, 'FULL')
  return { 'FULL', now, full, full_file }
end

if ARGV[5] == 'MARKED' then
  redis.call('SET', KEYS[5], now + ttl, 'EX', MARKED_FOR)
end

-- The remote branch had `repo_head` when this was granted. What a writer must have pushed by the time of its release is
-- measured from there, also where its working copy is ahead.
local granted_head = wanted == 'WRITING' and repo_head or agent_head
local granted, renewed, token = {}, {}, nil
own_entries = {}
for _, path in ipairs(paths) do
  local entry = own[path]
  if not is_kept[path] then
    token = token or next_token(token_key)
    if not entry then
      entry = { key = repository .. ':' .. branch .. ':' .. path, file_path = path, branch = branch, user_id = user_id }
      entry.agent_id = agent_id ~= '' and agent_id or nil
      table.insert(entries_of[path], entry)
    end
    entry.status, entry.token, entry.agent_head, entry.granted_at = wanted, token, granted_head, now
  end
  entry.user_name, entry.message = user_name, message
  extend(entry, tonumber(ttl))
  table.insert(is_kept[path] and renewed or granted, entry)
  own_entries[#own_entries + 1] = cjson.encode(entry)
  is_changed[path] = true
end
save_entries()
if #granted > 0 then
  forget_releases(paths)
end
emit_by_claim('lock_granted', granted)
emit_by_claim('lock_renewed', renewed)
return { 'CLAIMED', now, repo_head, head_age, is_unconfirmed, behind, version, omitted, findings, own_entries, held }
