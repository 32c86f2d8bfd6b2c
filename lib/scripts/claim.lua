-- claim: takes all of some files for reading or writing, or none of them; claiming again renews.
-- KEYS: 1 locks, 2 expiries, 3 head, 4 graph, 5 adjacency, 6 status log, 7 events channel, 8 token
-- ARGV: 1 branch, 2 user id, 3 user name, 4 agent id or '', 5 READING or WRITING, 6 neighbour policy, 7 head of the branch
--       or '' (then the stored one counts), 8 commits that the caller's working copy contains, separated by spaces,
--       9 the caller's head, 10 message, 11 seconds to hold, 12 repository, 13... file paths
-- Returns { outcome, now, head, '1' if behind, graph version, omitted neighbours, findings, own entries as JSON }, where
--      outcome is CLAIMED, CONFLICT (nothing claimed) or STALE (writing behind the branch; nothing claimed)
--      or { UNKNOWN_HEAD, now }: no head is known for this branch
locks_key, expiries_key, head_key, graph_key, adjacency_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
status_log_key, events_channel = KEYS[6], KEYS[7]
local token_key = KEYS[8]
branch, user_id, user_name, agent_id = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local wanted, neighbor_policy, repo_head, known_commits = ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local agent_head, message, ttl, repository = ARGV[9], ARGV[10], tonumber(ARGV[11]), ARGV[12]
local paths = arguments_from(13)

if repo_head == '' then
  repo_head = redis.call('HGET', head_key, 'commit')
  if not repo_head then
    return { 'UNKNOWN_HEAD', now }
  end
end
local version = redis.call('HGET', graph_key, 'version') or ''
local is_behind = not has_commit(known_commits, repo_head)
local behind = is_behind and '1' or '0'
if wanted == 'WRITING' and is_behind then
  emit_refusal(wanted, message, paths, 'STALE')
  return { 'STALE', now, repo_head, behind, version, 0, {}, {} }
end

local findings, blocked, omitted, own = survey(paths, wanted, neighbor_policy)
if blocked then
  local conflicts, is_named = {}, {}
  for _, finding in ipairs(findings) do
    local entry = finding[2] == '1' and cjson.decode(finding[5])
    if entry and not is_named[entry.file_path] then
      is_named[entry.file_path] = true
      conflicts[#conflicts + 1] = entry.file_path
    end
  end
  save_entries()
  emit_refusal(wanted, message, paths, 'CONFLICT', conflicts)
  return { 'CONFLICT', now, repo_head, behind, version, omitted, findings, {} }
end

-- The remote branch had `repo_head` when this was granted. A caller with unpushed commits is ahead of it; what it must have
-- pushed by the time of its release is measured from there.
local granted_head = (wanted == 'WRITING' and not is_same_commit(agent_head, repo_head)) and repo_head or agent_head
local granted, renewed, own_entries, token = {}, {}, {}, nil
for _, path in ipairs(paths) do
  local entry = own[path]
  -- Who writes a file and asks to read it goes on writing: what was written still has to be pushed.
  local is_renewal = entry and (entry.status == wanted or entry.status == 'WRITING')
  if not is_renewal then
    token = token or redis.call('INCR', token_key)
    if not entry then
      entry = { key = repository .. ':' .. branch .. ':' .. path, file_path = path, branch = branch, user_id = user_id }
      entry.agent_id = agent_id ~= '' and agent_id or nil
      table.insert(entries_of[path], entry)
    end
    entry.status, entry.token, entry.agent_head = wanted, token, granted_head
  end
  entry.user_name, entry.message, entry.timestamp, entry.expiry = user_name, message, now, now + ttl
  table.insert(is_renewal and renewed or granted, entry)
  own_entries[#own_entries + 1] = cjson.encode(entry)
  is_changed[path] = true
end
save_entries()
emit_by_claim('lock_granted', granted)
emit_by_claim('lock_renewed', renewed)
return { 'CLAIMED', now, repo_head, behind, version, omitted, findings, own_entries }
