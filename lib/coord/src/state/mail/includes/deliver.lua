-- Delivers messages. Needs: team.
-- A message is JSON: `id`, its sequence; `from` and `login`, absent for one of Coord itself; `to`: a handle, or 'broadcast';
-- `recipients`, for several; `kind`, `message`, `summary`, `task_id`, `reply_to`, `time` (Unix milliseconds); `left`: the recipients
-- that left and have not read it.
-- @include mail/inbox

local MOST_UNREAD = 1000
-- Messages that follow from what others do pass a full inbox, up to this.
local MOST_UNREAD_OF_COORD = 2000

local function drop_body(sequence)
  local refs = sequence .. ' refs'
  if redis.call('HEXISTS', keys.bodies, refs) == 0 then
    redis.call('HDEL', keys.bodies, sequence)
  elseif redis.call('HINCRBY', keys.bodies, refs, -1) == 0 then
    redis.call('HDEL', keys.bodies, sequence, refs)
  end
end

-- Drops the oldest entry of an inbox.
local function drop_oldest(inbox)
  local entry = entries_after(inbox, 0, 1)[1]
  if not entry then
    return
  end
  local sequence, _, sender, own = string.match(entry, '^(%d+) (%d+) ?(%S*) ?(%d*)$')
  redis.call('ZREM', keys.mail, inbox .. ' ' .. entry)
  if sender ~= '' then
    redis.call('ZREM', keys.mail, '>' .. sender .. ' ' .. sequence .. ' ' .. own)
  end
  drop_body(string.format('%.0f', tonumber(sequence)))
end

local function emit_message(message, recipients)
  emit({
    type = 'message_sent', team = team.name, number = message.id, message_type = message.kind, from = message.from,
    to = message.to, recipients = names_of(recipients), recipient_count = #recipients, task = message.task_id,
  })
end

-- The marks of members' inboxes, by handle.
local function marks_of_all(handles)
  local fields, marks = {}, {}
  for index, handle in ipairs(handles) do
    fields[index] = team_key .. '/' .. string.lower(handle)
  end
  for index, stored in ipairs(redis.call('HMGET', keys.members, unpack(fields))) do
    marks[handles[index]] = marks_of(stored)
  end
  return marks
end

local function is_full(marks, most_unread)
  return marks.direct - marks.read_direct >= most_unread
end

-- Sends messages, each to its `handles`, which are in none of the others; `marks` are those of all.
local function deliver_all(messages, marks)
  local KEPT = 1000
  sequence = redis.call('HINCRBY', keys.team, 'sequence', #messages)
  local entries, changed, bodies = {}, {}, {}
  for index, message in ipairs(messages) do
    local handles = message.handles
    message.handles, message.id, message.time = nil, sequence - #messages + index, now_ms
    for _, handle in ipairs(handles) do
      local own, inbox = marks[handle], '=' .. string.lower(handle)
      own.direct, own.last = own.direct + 1, message.id
      if own.direct > KEPT and own.direct - KEPT <= own.read_direct then
        drop_oldest(inbox)
      end
      entries[#entries + 1] = 0
      entries[#entries + 1] = inbox .. ' ' .. padded(message.id) .. ' ' .. own.direct
      changed[#changed + 1] = team_key .. '/' .. string.lower(handle)
      changed[#changed + 1] = marks_text(own)
    end
    local field = string.format('%.0f', message.id)
    bodies[#bodies + 1] = field
    bodies[#bodies + 1] = cjson.encode(message)
    if #handles > 1 then
      bodies[#bodies + 1] = field .. ' refs'
      bodies[#bodies + 1] = #handles
    end
    emit_message(message, handles)
  end
  redis.call('ZADD', keys.mail, unpack(entries))
  redis.call('HSET', keys.members, unpack(changed))
  redis.call('HSET', keys.bodies, unpack(bodies))
end

-- Sends to members, by their handles; returns the sequence, or nil and the handle whose inbox is full.
local function deliver(handles, message, most_unread)
  local marks = marks_of_all(handles)
  for _, handle in ipairs(handles) do
    if is_full(marks[handle], most_unread) then
      return nil, handle
    end
  end
  message.handles = handles
  deliver_all({ message }, marks)
  return sequence
end

-- Sends to all other members, those that join later excepted. The newest 1,000 broadcasts stay.
local function broadcast(message)
  local KEPT = 1000
  local sender = string.lower(member.handle)
  local stored, broadcasts = unpack(redis.call('HMGET', keys.members, team_key .. '/' .. sender, team_key .. '/*'))
  local marks, ordinal = marks_of(stored), broadcasts_of(broadcasts) + 1
  sequence = redis.call('HINCRBY', keys.team, 'sequence', 1)
  redis.call('HSET', keys.members, team_key .. '/*', ordinal .. ' ' .. sequence)
  marks.own = marks.own + 1
  if ordinal > KEPT then
    drop_oldest('*')
  end
  redis.call('ZADD', keys.mail, 0, '* ' .. padded(sequence) .. ' ' .. ordinal .. ' ' .. sender .. ' ' .. marks.own, 0,
    '>' .. sender .. ' ' .. padded(sequence) .. ' ' .. marks.own)
  save_marks(sender, marks)
  message.id, message.time = sequence, now_ms
  redis.call('HSET', keys.bodies, string.format('%.0f', sequence), cjson.encode(message))
  emit_message(message, {})
  return sequence
end
