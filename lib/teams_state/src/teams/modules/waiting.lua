-- Pending items for the caller in its teams, for the answers of other requests.
local InboxCounts = require('teams/inbox_counts')
local MemberFields = require('teams/member_fields')

local Waiting = {}

-- For each of its teams: `team` in lower case, `handle`, `unread`: number of messages, and `shutdown`: the one that it has yet to answer, as
-- Team.shutdown_text() has it, absent for none. Runs a single command for an agent that is in no team.
function Waiting.of_caller(call)
  local memberships, fields, names = {}, {}, {}
  local stored = redis.call('HGET', call.keys.members, MemberFields.agent_field(call.request.user_id, call.request.agent_id))
  local handles = stored and cjson.decode(stored) or {}
  for name in pairs(handles) do
    names[#names + 1] = name
  end
  if #names == 0 then
    return memberships
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local me = string.lower(handles[name])
    for _, field in ipairs({ me, '*', '!', '!' .. me }) do
      fields[#fields + 1] = name .. '/' .. field
    end
  end
  local values = redis.call('HMGET', call.keys.members, unpack(fields))
  for index, name in ipairs(names) do
    local counts, broadcasts, open, answer = unpack(values, 4 * index - 3, 4 * index)
    local shutdown = open and not answer and cjson.decode(open)
    local is_asked = shutdown and (shutdown.target == '*' or shutdown.target == string.lower(handles[name]))
    local unread = counts and InboxCounts.unread_of(InboxCounts.marks_of(counts), (InboxCounts.broadcasts_of(broadcasts))) or 0
    memberships[index] = { team = name, handle = handles[name], unread = unread, shutdown = is_asked and shutdown or nil }
  end
  return memberships
end

return Waiting
