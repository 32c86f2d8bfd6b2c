-- check_status: what stands in the way of reading or writing some files. Changes nothing but what has expired.
-- KEYS: 1 locks, 2 expiries, 3 head, 4 graph, 5 adjacency, 6 status log, 7 events channel
-- ARGV: 1 branch, 2 user id, 3 agent id or '', 4 READING or WRITING, 5 neighbour policy, 6 head of the branch or '' (then
--       the stored one counts), 7 commits that the caller's working copy contains, separated by spaces, 8... file paths
-- Returns { CHECKED, now, head, '1' if behind, graph version, omitted neighbours, findings, own entries as JSON }
--      or { UNKNOWN_HEAD, now }: no head is known for this branch
locks_key, expiries_key, head_key, graph_key, adjacency_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
status_log_key, events_channel = KEYS[6], KEYS[7]
branch, user_id, agent_id = ARGV[1], ARGV[2], ARGV[3]
local wanted, neighbor_policy, repo_head, known_commits = ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local paths = arguments_from(8)

if repo_head == '' then
  repo_head = redis.call('HGET', head_key, 'commit')
  if not repo_head then
    return { 'UNKNOWN_HEAD', now }
  end
end

local findings, _, omitted, own = survey(paths, wanted, neighbor_policy)
save_entries()

local own_entries = {}
for _, path in ipairs(paths) do
  if own[path] then
    own_entries[#own_entries + 1] = cjson.encode(own[path])
  end
end
local behind = has_commit(known_commits, repo_head) and '0' or '1'
local version = redis.call('HGET', graph_key, 'version') or ''
return { 'CHECKED', now, repo_head, behind, version, omitted, findings, own_entries }
