-- show_team: reads a team with its members, their claims and their inboxes.
-- KEYS: those of admission/request, of a team (`team_keys.rs`)
-- The request has the fields of teams/team.
-- Returns Team.reply(): SHOWN, `team`, the open `shutdown`, absent for none, `open_tasks`, `done_tasks`: their numbers, and `members`, each
-- with its `record` as JSON, `seen`: when it was last seen (Unix milliseconds), absent if never, `is_live`, `unread`: number of messages,
-- `claims`: ids of its claimed tasks, separated by blanks, and `read`: the sequence up to which it has read; or REFUSED; or one of the
-- denials of Admission.admit()
local Admission = require('admission/admission')
local Answer = require('answer')
local InboxCounts = require('teams/inbox_counts')
local Limits = require('admission/limits')
local Live = require('teams/live')
local Team = require('teams/team')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)

  local denial = Admission.admit(call) or Team.load_team(call)
  if denial then
    return denial
  end
  -- As many claims as 1,000 members may have; and how many tasks one command reads.
  local MAX_CLAIMS, AT_ONCE = 50000, 1000
  local ids_of = {} -- key of a handle -> the tasks that it has claimed
  local claimed = redis.call('ZRANGEBYSCORE', call.keys.leases, '(' .. string.format('%.0f', call.now_ms), '+inf', 'LIMIT', 0, MAX_CLAIMS)
  for first = 1, #claimed, AT_ONCE do
    local last = math.min(first + AT_ONCE - 1, #claimed)
    for index, stored in ipairs(redis.call('HMGET', call.keys.tasks, unpack(claimed, first, last))) do
      -- Searches the text, because decoding thousands would take too long. No title can contain this: its quotes are escaped.
      local owner = stored and string.match(stored, '"owner":"([^"]*)"')
      owner = owner and string.lower(owner)
      if owner then
        ids_of[owner] = ids_of[owner] or {}
        table.insert(ids_of[owner], claimed[first + index - 1])
      end
    end
  end

  local seen, stored = {}, redis.call('HGETALL', call.keys.seen)
  for index = 1, #stored, 2 do
    seen[stored[index]] = stored[index + 1]
  end
  local handles, records, fields = {}, {}, { call.team_key .. '/*' }
  stored = redis.call('HGETALL', call.keys.team)
  for index = 1, #stored, 2 do
    if string.sub(stored[index], 1, 1) == '=' then
      local handle = string.sub(stored[index], 2)
      handles[#handles + 1], records[#records + 1] = handle, stored[index + 1]
      fields[#fields + 1] = call.team_key .. '/' .. handle
    end
  end
  local marks = redis.call('HMGET', call.keys.members, unpack(fields))
  local broadcasts = InboxCounts.broadcasts_of(marks[1])
  local members = {}
  for index, handle in ipairs(handles) do
    local seen_at, ids = tonumber(seen[handle]), ids_of[handle] or {}
    local counts = InboxCounts.marks_of(marks[index + 1])
    members[index] = {
      record = records[index],
      seen = seen_at,
      is_live = Live.was_seen_lately(call, seen_at) or #ids > 0,
      unread = InboxCounts.unread_of(counts, broadcasts),
      claims = table.concat(ids, ' '),
      read = counts.read,
    }
  end
  -- Reading this many members, or claims, costs as much as one request.
  local MEMBERS_OF_A_REQUEST, CLAIMS_OF_A_REQUEST = 100, 1000
  local work = math.floor(#handles / MEMBERS_OF_A_REQUEST + #claimed / CLAIMS_OF_A_REQUEST)
  if work > 0 then
    Limits.count(call, 'WORK', nil, work)
  end
  local open, done = unpack(redis.call('HMGET', call.keys.teams, call.team_key .. '/open', call.team_key .. '/done'))
  return Team.reply(call, 'SHOWN', {
    team = call.team,
    shutdown = call.shutdown,
    open_tasks = tonumber(open),
    done_tasks = tonumber(done),
    members = Answer.some(members),
  })
end
