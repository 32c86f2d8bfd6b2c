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

local function write_message(message, recipients)
  message.id, message.time = sequence, now_ms
  redis.call('HSET', keys.bodies, string.format('%.0f', sequence), cjson.encode(message))
  emit({
    type = 'message_sent', team = team.name, number = sequence, message_type = message.kind, from = message.from,
    to = message.to, recipients = names_of(recipients), recipient_count = #recipients, task = message.task_id,
  })
end

-- Sends to members, by their handles; returns the sequence, or nil and the handle whose inbox is full.
local function deliver(handles, message, most_unread)
  local KEPT = 1000
  local fields, changed, entries = {}, {}, {}
  for index, handle in ipairs(handles) do
    fields[index] = team_key .. '/' .. string.lower(handle)
  end
  local stored = redis.call('HMGET', keys.members, unpack(fields))
  for index, handle in ipairs(handles) do
    stored[index] = marks_of(stored[index])
    if stored[index].direct - stored[index].read_direct >= most_unread then
      return nil, handle
    end
  end
  sequence = redis.call('HINCRBY', keys.team, 'sequence', 1)
  for index, handle in ipairs(handles) do
    local marks, inbox = stored[index], '=' .. string.lower(handle)
    marks.direct, marks.last = marks.direct + 1, sequence
    if marks.direct > KEPT and marks.direct - KEPT <= marks.read_direct then
      drop_oldest(inbox)
    end
    table.insert(entries, 0)
    table.insert(entries, inbox .. ' ' .. padded(sequence) .. ' ' .. marks.direct)
    table.insert(changed, fields[index])
    table.insert(changed, marks_text(marks))
  end
  redis.call('ZADD', keys.mail, unpack(entries))
  redis.call('HSET', keys.members, unpack(changed))
  if #handles > 1 then
    redis.call('HSET', keys.bodies, string.format('%.0f', sequence) .. ' refs', #handles)
  end
  write_message(message, handles)
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
  write_message(message, {})
  return sequence
end
