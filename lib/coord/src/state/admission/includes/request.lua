-- The common part of every request, by name. KEYS 1 to 6 and ARGV 1 to 16 are for its admission (admission.lua). KEYS 7 to
-- 24 are present if it concerns locks or intents, 25 if it may change locks, 26 if it may claim some.
-- KEYS: 1 head of the branch, 2 limits of the person, 3 limits of the repository, 4 webhook, 5 mark, 6 governed,
--       7 locks, 8 expiries, 9 graph, 10 its adjacency, 11 status log, 12 events channel, 13 held, 14 graph as JSON,
--       15 scan of the graph, 16 refusals, 17 intents, 18 their texts, 19 their use, 20 owners of files, 21 session of the
--       caller, 22 ledger, 23 traces, 24 members of teams, 25 releases, 26 token
-- ARGV: 1 branch, 2 user id, 3 user name, 4 agent id or '', 5 READ, CLAIM, RELEASE, or MARKED: a claim whose repository has
--       just been put on the due list, 6 cost of the request, then rates as one_more() takes them: 7 of one agent, 8 of one
--       person, 9 of the repository, 10 of lookups at the source for unknown commits and 11 for unknown branches, of one
--       person, 12 head that a source has just returned, or '' for the stored one, 13 seconds after which the stored one is
--       fetched again, or '' for never, or ANY if none is needed, 14 its maximum age in seconds, or '' for any age, 15 '1'
--       if the source was asked about the caller's commits, 16 commits that the caller's working copy contains, separated by
--       spaces
local keys = {
  head = KEYS[1], person_limits = KEYS[2], repository_limits = KEYS[3], webhook = KEYS[4], mark = KEYS[5],
  governed = KEYS[6],
  locks = KEYS[7], expiries = KEYS[8], graph = KEYS[9], adjacency = KEYS[10], status_log = KEYS[11], events = KEYS[12],
  held = KEYS[13], graph_json = KEYS[14], graph_scan = KEYS[15], refusals = KEYS[16],
  intents = KEYS[17], intent_texts = KEYS[18], intent_use = KEYS[19], owners = KEYS[20], session = KEYS[21],
  ledger = KEYS[22], traces = KEYS[23], members = KEYS[24],
  releases = KEYS[25], token = KEYS[26],
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
