-- Delivers messages. Needs: team.
-- A message is JSON: `id`, its sequence; `from` and `login`, absent for one of Coord itself; `to`: a handle, or 'broadcast';
-- `recipients`, for several; `kind`, `message`, `summary`, `task_id`, `reply_to`, `time` (Unix milliseconds). The recipients that left and
-- have not read it are in the field 'SEQUENCE left' of keys.bodies, as JSON without its brackets; from before that, in `left` of the message.
-- @include mail/inbox
-- @include teams/bytes

local MOST_UNREAD = 1000
-- Messages that follow from what others do pass a full inbox, up to this.
local MOST_UNREAD_OF_COORD = 2000
-- Messages that a script looks at to find out whose they are.
local unread_to_look_at = 20000

-- The inbox of what members that left had not read.
local LEFT = '-'

-- What messages count for the login that sent them, or caused Coord to: the field 'SEQUENCE refs' of keys.bodies has in how many inboxes
-- a message is, its bytes and that login. Where it is absent, or has the first alone, the message counts for nobody.
local mail_bytes = {} -- login -> bytes, counted by count_mail()

local function bytes_of(message, recipients)
  local BYTES_OF_MESSAGE, BYTES_OF_RECIPIENT = 512, 128
  return #message.message + #(message.summary or '') + BYTES_OF_MESSAGE + BYTES_OF_RECIPIENT * recipients
end

-- What 'SEQUENCE refs' has for a new message, which is noted in mail_bytes.
local function refs_of(message, recipients)
  local login, bytes = message.login or request.user_id, bytes_of(message, recipients)
  mail_bytes[login] = (mail_bytes[login] or 0) + bytes
  return recipients .. ' ' .. bytes .. ' ' .. login
end

local function count_mail()
  for login, bytes in pairs(mail_bytes) do
    count_bytes('mail', login, bytes)
  end
  mail_bytes = {}
end

-- Messages of which each is in one inbox less. The caller counts what they let go.
local function drop_bodies(sequences)
  local refs, kept, gone = {}, {}, {}
  for index, sequence in ipairs(sequences) do
    refs[index] = sequence .. ' refs'
  end
  for index, stored in ipairs(#refs > 0 and redis.call('HMGET', keys.bodies, unpack(refs)) or {}) do
    local count, counted = string.match(stored or '1', '^(%d+)(.*)$')
    if tonumber(count) > 1 then
      kept[#kept + 1] = refs[index]
      kept[#kept + 1] = string.format('%.0f', count - 1) .. counted
    else
      local bytes, login = string.match(counted, '^ (%d+) (.*)$')
      if bytes then
        mail_bytes[login] = (mail_bytes[login] or 0) - bytes
      end
      gone[#gone + 1] = sequences[index]
      gone[#gone + 1] = refs[index]
      gone[#gone + 1] = sequences[index] .. ' left'
    end
  end
  if #kept > 0 then
    redis.call('HSET', keys.bodies, unpack(kept))
  end
  if #gone > 0 then
    redis.call('HDEL', keys.bodies, unpack(gone))
  end
end

local function drop_entry(inbox, entry)
  local sequence, sender, own = string.match(entry, '^(%d+) %d+ ?(%S*) ?(%d*)$')
  redis.call('ZREM', keys.mail, inbox .. ' ' .. entry)
  if sender ~= '' then
    redis.call('ZREM', keys.mail, '>' .. sender .. ' ' .. sequence .. ' ' .. own)
  end
  drop_bodies({ string.format('%.0f', tonumber(sequence)) })
end

-- Drops the oldest entry of an inbox, if it is among the first `most` that came there; whether it was.
local function drop_oldest(inbox, most)
  local entry = entries_after(inbox, 0, 1)[1] or ''
  local ordinal = string.match(entry, '^%d+ (%d+)')
  if not ordinal or tonumber(ordinal) > most then
    return false
  end
  drop_entry(inbox, entry)
  return true
end

-- How many of these entries of an inbox count for the caller's login, and the first of them.
local function own_among(entries)
  local AT_ONCE = 1000
  local own, oldest = 0, nil
  for first = 1, #entries, AT_ONCE do
    local refs = {}
    for index = first, math.min(first + AT_ONCE - 1, #entries) do
      refs[#refs + 1] = string.format('%.0f refs', tonumber(string.match(entries[index], '^%d+')))
    end
    for index, stored in ipairs(redis.call('HMGET', keys.bodies, unpack(refs))) do
      if string.match(stored or '', '^%d+ %d+ (.*)$') == request.user_id then
        own, oldest = own + 1, oldest or entries[first + index - 1]
      end
    end
  end
  return own, oldest
end

-- Nil, or what full_of() gives, if the caller has no room for so many bytes of messages. To make room, the oldest of these `inboxes` go,
-- each { inbox, how many that came there may }, and what members that left had not read; a refusal leaves these dropped.
local function full_mail(bytes, inboxes)
  local MOST_DROPPED, dropped = 256, 0
  local what, most = full_of('mail', bytes)
  if not what then
    return nil
  end
  table.insert(inboxes, 1, { LEFT, 1 })
  for _, inbox in ipairs(inboxes) do
    while what and dropped < MOST_DROPPED and drop_oldest(inbox[1], inbox[2]) do
      count_mail()
      dropped, what, most = dropped + 1, full_of('mail', bytes)
    end
  end
  return what and what .. '; those that are read make room', most
end

-- The refusal of what deliver() or broadcast() did not send: they return nil, and the arguments.
local function refuse_message(full_inbox, what, most)
  return refuse(full_inbox and 'INBOX_FULL' or 'TOO_MANY', full_inbox or what, most)
end

local function emit_message(message, recipients)
  emit({
    type = 'message_sent', team = team.name, number = message.id, message_type = message.kind, from = message.from,
    to = message.to, recipients = names_of(recipients), recipient_count = #recipients, task = message.task_id,
  }, request.user_id)
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

-- Whether a quarter of what the inbox may have is of the caller's login already, which may fill the inboxes of its own agents alone.
-- They are looked at only once there are as many of all.
local function has_sent_share(handle, marks, most_unread)
  if not is_full(marks, most_unread / 4) or (load_member(handle) or {}).login == request.user_id then
    return false
  end
  if unread_to_look_at <= 0 then
    return true
  end
  local entries = entries_after('=' .. string.lower(handle), marks.read, MOST_UNREAD_OF_COORD)
  unread_to_look_at = unread_to_look_at - #entries
  return own_among(entries) >= most_unread / 4
end

-- Sends messages, each to its `handles`, which are in none of the others; `marks` are those of all.
local function deliver_all(messages, marks)
  local MOST_READ_KEPT = 1000
  sequence = redis.call('HINCRBY', keys.team, 'sequence', #messages)
  local entries, changed, bodies = {}, {}, {}
  for index, message in ipairs(messages) do
    local handles = message.handles
    message.handles, message.id, message.time = nil, sequence - #messages + index, now_ms
    for _, handle in ipairs(handles) do
      local own, inbox = marks[handle], '=' .. string.lower(handle)
      own.direct, own.last = own.direct + 1, message.id
      if own.direct > MOST_READ_KEPT and own.direct - MOST_READ_KEPT <= own.read_direct then
        drop_oldest(inbox, own.direct - MOST_READ_KEPT)
      end
      entries[#entries + 1] = 0
      entries[#entries + 1] = inbox .. ' ' .. padded(message.id) .. ' ' .. own.direct
      changed[#changed + 1] = team_key .. '/' .. string.lower(handle)
      changed[#changed + 1] = marks_text(own)
    end
    local field = string.format('%.0f', message.id)
    bodies[#bodies + 1] = field
    bodies[#bodies + 1] = cjson.encode(message)
    bodies[#bodies + 1] = field .. ' refs'
    bodies[#bodies + 1] = refs_of(message, #handles)
    emit_message(message, handles)
  end
  redis.call('ZADD', keys.mail, unpack(entries))
  redis.call('HSET', keys.members, unpack(changed))
  redis.call('HSET', keys.bodies, unpack(bodies))
  count_mail()
end

-- Sends to members, by their handles; returns the sequence, or as refuse_message() has it.
local function deliver(handles, message, most_unread)
  local marks, inboxes = marks_of_all(handles), {}
  for index, handle in ipairs(handles) do
    if is_full(marks[handle], most_unread) then
      return nil, handle, nil, most_unread
    elseif has_sent_share(handle, marks[handle], most_unread) then
      return nil, nil, 'unread messages of one login to one member', most_unread / 4
    end
    inboxes[index] = { '=' .. string.lower(handle), marks[handle].read_direct }
  end
  local what, most = full_mail(bytes_of(message, #handles), inboxes)
  if what then
    return nil, nil, what, most
  end
  message.handles = handles
  deliver_all({ message }, marks)
  return sequence
end

-- Sends to all other members, those that join later excepted; returns as deliver() does. 1,000 broadcasts stay: the newest, but a login
-- that has a quarter of them loses its own oldest.
local function broadcast(message)
  local MOST_BROADCASTS = 1000
  local sender = string.lower(member.handle)
  local stored, broadcasts = unpack(redis.call('HMGET', keys.members, team_key .. '/' .. sender, team_key .. '/*'))
  local marks, ordinal = marks_of(stored), broadcasts_of(broadcasts) + 1
  local what, most = full_mail(bytes_of(message, 1), { { '*', ordinal } })
  if what then
    return nil, nil, what, most
  end
  sequence = redis.call('HINCRBY', keys.team, 'sequence', 1)
  redis.call('HSET', keys.members, team_key .. '/*', ordinal .. ' ' .. sequence)
  marks.own = marks.own + 1
  local entries = ordinal > MOST_BROADCASTS and entries_after('*', 0, MOST_BROADCASTS) or {}
  if #entries == MOST_BROADCASTS then
    local own, oldest = own_among(entries)
    drop_entry('*', own >= MOST_BROADCASTS / 4 and oldest or entries[1])
  end
  redis.call('ZADD', keys.mail, 0, '* ' .. padded(sequence) .. ' ' .. ordinal .. ' ' .. sender .. ' ' .. marks.own, 0,
    '>' .. sender .. ' ' .. padded(sequence) .. ' ' .. marks.own)
  save_marks(sender, marks)
  message.id, message.time = sequence, now_ms
  local field = string.format('%.0f', sequence)
  redis.call('HSET', keys.bodies, field, cjson.encode(message), field .. ' refs', refs_of(message, 1))
  count_mail()
  emit_message(message, {})
  return sequence
end
