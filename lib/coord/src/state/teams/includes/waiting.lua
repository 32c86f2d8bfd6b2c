-- What waits for the caller in its teams, for the answers of other requests. Needs: request, keys.members.
-- @include teams/member_fields

-- For each of its teams: { team, handle, number of unread messages, the shutdown that it has yet to answer as JSON, or '' }. One
-- command for an agent that is in no team.
local function waiting()
  local found, fields, names = {}, {}, {}
  local stored = redis.call('HGET', keys.members, agent_field(request.user_id, request.agent_id))
  local handles = stored and cjson.decode(stored) or {}
  for name in pairs(handles) do
    names[#names + 1] = name
  end
  if #names == 0 then
    return found
  end
  -- @include teams/inbox_counts
  table.sort(names)
  for _, name in ipairs(names) do
    local me = string.lower(handles[name])
    for _, field in ipairs({ me, '*', '!', '!' .. me }) do
      fields[#fields + 1] = name .. '/' .. field
    end
  end
  local values = redis.call('HMGET', keys.members, unpack(fields))
  for index, name in ipairs(names) do
    local counts, broadcasts, open, answer = unpack(values, 4 * index - 3, 4 * index)
    local shutdown = open and not answer and cjson.decode(open)
    local is_asked = shutdown and (shutdown.target == '*' or shutdown.target == string.lower(handles[name]))
    local unread = counts and unread_of(marks_of(counts), (broadcasts_of(broadcasts))) or 0
    found[index] = { name, handles[name], unread, is_asked and open or '' }
  end
  return found
end
