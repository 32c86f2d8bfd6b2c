-- list_messages: lists the messages of a team, the newest first, and how far its members have read.
-- KEYS: those of admission/request, of a team (`team_keys.rs`)
-- The request has the fields of teams/team, `before`: the sequence before which the list begins, absent for the newest, `most` messages,
-- `most_bytes`; and filters, absent for none: `member`: handle of sender or recipient, in lower case, and `task_id`.
-- Returns Team.reply(): LISTED, `earlier`: the sequence before which the list continues, absent at the end, `messages`, each as JSON, and
-- `readers`: the members, each with `handle`, `from`: the sequence at joining, and `read`: the sequence up to which it has read everything;
-- or REFUSED; or one of the denials of Admission.admit()
local Admission = require('admission/admission')
local Answer = require('answer')
local InboxCounts = require('teams/inbox_counts')
local Limits = require('admission/limits')
local Team = require('teams/team')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)

  local denial = Admission.admit(call) or Team.load_team(call)
  if denial then
    return denial
  end
  local request = call.request
  local member, task_id = request.member, request.task_id

  local function matches_filters(message)
    if task_id and message.task_id ~= task_id then
      return false
    end
    if not member or message.to == 'broadcast' or string.lower(message.from or '') == member then
      return true
    end
    for _, handle in ipairs(message.recipients or { message.to }) do
      if string.lower(handle) == member then
        return true
      end
    end
    return false
  end

  -- The message with the recipients that left; messages of earlier versions may have some already.
  local function with_left(body, left)
    local _, last = string.find(body, '"left":[', 1, true)
    if last then
      return string.sub(body, 1, last) .. left .. ',' .. string.sub(body, last + 1)
    end
    return string.sub(body, 1, -2) .. ',"left":[' .. left .. ']}'
  end

  -- How many sequences, and bytes, one run looks at, since a filter may match few of them; and how many at once. A run takes a few
  -- milliseconds, after which other requests run, and counts as a request.
  local MAX_LOOKED_AT, MAX_BYTES_LOOKED_AT, AT_ONCE = 500, 262144, 50
  local is_filtered = member or task_id
  local next_sequence = request.before and math.min(request.before - 1, call.sequence) or call.sequence
  local messages, bytes, looked_at, bytes_looked_at, is_full = {}, 0, 0, 0, false
  while next_sequence > 0 and looked_at < MAX_LOOKED_AT and bytes_looked_at < MAX_BYTES_LOOKED_AT and not is_full do
    local names = {}
    for sequence = next_sequence, math.max(next_sequence - AT_ONCE + 1, 1), -1 do
      names[#names + 1] = string.format('%.0f', sequence)
      names[#names + 1] = names[#names] .. ' left'
    end
    local stored = redis.call('HMGET', call.keys.bodies, unpack(names))
    for index = 1, #names, 2 do
      local body = stored[index] and stored[index + 1] and with_left(stored[index], stored[index + 1]) or stored[index]
      if body and (not is_filtered or matches_filters(cjson.decode(body))) then
        is_full = #messages == request.most or (#messages > 0 and bytes + #body > request.most_bytes)
        if is_full then
          break
        end
        messages[#messages + 1], bytes = body, bytes + #body
      end
      next_sequence, looked_at, bytes_looked_at = next_sequence - 1, looked_at + 1, bytes_looked_at + #(body or '')
    end
  end

  local readers, fields = {}, {}
  local stored = redis.call('HGETALL', call.keys.team)
  for index = 1, #stored, 2 do
    if string.sub(stored[index], 1, 1) == '=' then
      local record = cjson.decode(stored[index + 1])
      readers[#readers + 1] = { handle = record.handle, from = record.from }
      fields[#fields + 1] = call.team_key .. '/' .. string.sub(stored[index], 2)
    end
  end
  for index, text in ipairs(#fields > 0 and redis.call('HMGET', call.keys.members, unpack(fields)) or {}) do
    readers[index].read = InboxCounts.marks_of(text).read or 0
  end
  -- Reading this many members costs as much as one request.
  local MEMBERS_OF_A_REQUEST = 200
  if #readers >= MEMBERS_OF_A_REQUEST then
    Limits.count(call, 'WORK', nil, math.floor(#readers / MEMBERS_OF_A_REQUEST))
  end
  return Team.reply(call, 'LISTED', {
    earlier = next_sequence > 0 and next_sequence + 1 or nil,
    messages = Answer.some(messages),
    readers = Answer.some(readers),
  })
end
