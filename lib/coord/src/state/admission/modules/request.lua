-- The common part of every request, by name. KEYS 1 to 8 and ARGV 1 to 16 are for its admission (admission.lua). KEYS 9 to
-- 27 are present if it concerns locks or intents, 28 if it may use up a share, 29 and 30 if it may change locks.
-- KEYS: 1 head of the branch, 2 limits of the person, 3 limits of the repository, 4 webhook, 5 mark, 6 governed, 7 queue, 8 taken,
--       9 locks, 10 expiries, 11 graph, 12 its adjacency, 13 status log, 14 events channel, 15 held, 16 graph as JSON,
--       17 scan of the graph, 18 refusals, 19 intents, 20 their texts, 21 their use, 22 owners of files, 23 sessions of the
--       person, 24 ledger, 25 traces, 26 members of teams, 27 pending, 28 shares of logins, 29 releases, 30 token
-- ARGV: 1 branch, and behind a line feed the one that the caller commits to, where it is another, 2 user id, 3 user name, 4 agent id
--       or '', 5 READ, CLAIM, RELEASE, or MARKED: a claim whose repository has
--       just been put on the due list, 6 cost of the request, 0 if it has been counted, then rates as one_more() takes them: 7 of one agent, 8 of one
--       person, 9 of the repository, 10 of lookups at the source for unknown commits and 11 for unknown branches, of one
--       person, 12 head that a source has just returned, or '' for the stored one, 13 seconds after which the stored one is
--       fetched again, or '' for never, or ANY if none is needed, 14 its maximum age in seconds, or '' for any age, 15 '1'
--       if the source was asked about the caller's commits, 16 commits that the caller's working copy contains, separated by
--       spaces
local Request = {}

function Request.begin(call, KEYS, ARGV)
  call.keys = {
    head = KEYS[1], person_limits = KEYS[2], repository_limits = KEYS[3], webhook = KEYS[4], mark = KEYS[5],
    governed = KEYS[6], queue = KEYS[7], taken = KEYS[8],
    locks = KEYS[9], expiries = KEYS[10], graph = KEYS[11], adjacency = KEYS[12], status_log = KEYS[13], events = KEYS[14],
    held = KEYS[15], graph_json = KEYS[16], graph_scan = KEYS[17], refusals = KEYS[18],
    intents = KEYS[19], intent_texts = KEYS[20], intent_use = KEYS[21], owners = KEYS[22], sessions = KEYS[23],
    ledger = KEYS[24], traces = KEYS[25], members = KEYS[26], pending = KEYS[27],
    shares = KEYS[28], releases = KEYS[29], token = KEYS[30],
  }
  call.request = {
    branch = string.match(ARGV[1], '^[^\n]*'), work_branch = string.match(ARGV[1], '\n(.*)') or '',
    user_id = ARGV[2], user_name = ARGV[3], agent_id = ARGV[4], kind = ARGV[5], cost = ARGV[6],
    agent_rate = ARGV[7], person_rate = ARGV[8], repository_rate = ARGV[9], commit_rate = ARGV[10], branch_rate = ARGV[11],
    fetched_head = ARGV[12], refresh_after = ARGV[13], most_age = ARGV[14],
    has_asked_source = ARGV[15] == '1', known_commits = ARGV[16],
  }
end

-- Whether `entry` is the caller's. A holder is a person and an agent.
function Request.is_own(call, entry)
  return entry.user_id == call.request.user_id and (entry.agent_id or '') == call.request.agent_id
end

return Request
