-- The common part of every request, by name. KEYS 1 to 5 and ARGV 1 to 16 are for its admission (admission.lua). KEYS 6 to
-- 15 are present if it concerns locks, 16 if it may change them.
-- KEYS: 1 head of the branch, 2 limits of the person, 3 limits of the repository, 4 webhook, 5 mark,
--       6 locks, 7 expiries, 8 graph, 9 its adjacency, 10 status log, 11 events channel, 12 held, 13 graph as JSON,
--       14 scan of the graph, 15 refusals, 16 releases
-- ARGV: 1 branch, 2 user id, 3 user name, 4 agent id or '', 5 READ, CLAIM, RELEASE, or MARKED: a claim whose repository has
--       just been put on the due list, 6 cost of the request, then rates as one_more() takes them: 7 of one agent, 8 of one
--       person, 9 of the repository, 10 of lookups at the source for unknown commits and 11 for unknown branches, of one
--       person, 12 head that a source has just returned, or '' for the stored one, 13 seconds after which the stored one is
--       fetched again, or '' for never, or ANY if none is needed, 14 its maximum age in seconds, or '' for any age, 15 '1'
--       if the source was asked about the caller's commits, 16 commits that the caller's working copy contains, separated by
--       spaces
local keys = {
  head = KEYS[1], person_limits = KEYS[2], repository_limits = KEYS[3], webhook = KEYS[4], mark = KEYS[5],
  locks = KEYS[6], expiries = KEYS[7], graph = KEYS[8], adjacency = KEYS[9], status_log = KEYS[10], events = KEYS[11],
  held = KEYS[12], graph_json = KEYS[13], graph_scan = KEYS[14], refusals = KEYS[15],
  releases = KEYS[16],
}
local request = {
  branch = ARGV[1], user_id = ARGV[2], user_name = ARGV[3], agent_id = ARGV[4], kind = ARGV[5], cost = ARGV[6],
  agent_rate = ARGV[7], person_rate = ARGV[8], repository_rate = ARGV[9], commit_rate = ARGV[10], branch_rate = ARGV[11],
  fetched_head = ARGV[12], refresh_after = ARGV[13], most_age = ARGV[14],
  has_asked_source = ARGV[15] == '1', known_commits = ARGV[16],
}

-- Whether `entry` is the caller's. A holder is a person and an agent.
local function is_own(entry)
  return entry.user_id == request.user_id and (entry.agent_id or '') == request.agent_id
end
