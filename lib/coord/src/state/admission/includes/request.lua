-- The common part of every request, by name. KEYS 1 to 7 and ARGV 1 to 16 are for its admission (admission.lua). KEYS 8 to
-- 25 are present if it concerns locks or intents, 26 if it may change locks, 27 if it may claim some.
-- KEYS: 1 head of the branch, 2 limits of the person, 3 limits of the repository, 4 webhook, 5 mark, 6 governed, 7 queue,
--       8 locks, 9 expiries, 10 graph, 11 its adjacency, 12 status log, 13 events channel, 14 held, 15 graph as JSON,
--       16 scan of the graph, 17 refusals, 18 intents, 19 their texts, 20 their use, 21 owners of files, 22 session of the
--       caller, 23 ledger, 24 traces, 25 members of teams, 26 releases, 27 token
-- ARGV: 1 branch, 2 user id, 3 user name, 4 agent id or '', 5 READ, CLAIM, RELEASE, or MARKED: a claim whose repository has
--       just been put on the due list, 6 cost of the request, then rates as one_more() takes them: 7 of one agent, 8 of one
--       person, 9 of the repository, 10 of lookups at the source for unknown commits and 11 for unknown branches, of one
--       person, 12 head that a source has just returned, or '' for the stored one, 13 seconds after which the stored one is
--       fetched again, or '' for never, or ANY if none is needed, 14 its maximum age in seconds, or '' for any age, 15 '1'
--       if the source was asked about the caller's commits, 16 commits that the caller's working copy contains, separated by
--       spaces
local keys = {
  head = KEYS[1], person_limits = KEYS[2], repository_limits = KEYS[3], webhook = KEYS[4], mark = KEYS[5],
  governed = KEYS[6], queue = KEYS[7],
  locks = KEYS[8], expiries = KEYS[9], graph = KEYS[10], adjacency = KEYS[11], status_log = KEYS[12], events = KEYS[13],
  held = KEYS[14], graph_json = KEYS[15], graph_scan = KEYS[16], refusals = KEYS[17],
  intents = KEYS[18], intent_texts = KEYS[19], intent_use = KEYS[20], owners = KEYS[21], session = KEYS[22],
  ledger = KEYS[23], traces = KEYS[24], members = KEYS[25],
  releases = KEYS[26], token = KEYS[27],
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
