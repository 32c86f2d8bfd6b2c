-- Delivers messages. A message is JSON: `id`, its sequence; `from` and `login`, absent for one from Coord; `to`: a handle, or
-- 'broadcast'; `recipients`, if there are several; `kind`, `message`, `summary`, `task_id`, `reply_to`, `time` (Unix milliseconds). The
-- recipients that left without reading it are in the field 'SEQUENCE left' of keys.bodies, as JSON without its brackets; earlier versions
-- put them into `left` of the message.
local Emit = require('events/emit')
local Inbox = require('mail/inbox')
local InboxCounts = require('teams/inbox_counts')
local Marks = require('teams/marks')
local Team = require('teams/team')
local TeamBytes = require('teams/bytes')

local Deliver = {}

local MAX_UNREAD = 1000
Deliver.MAX_UNREAD = MAX_UNREAD
-- Messages that others' actions cause may exceed a full inbox, up to this number.
local MAX_UNREAD_FROM_COORD = 2000
Deliver.MAX_UNREAD_FROM_COORD = MAX_UNREAD_FROM_COORD

function Deliver.begin(call)
  -- How many more messages the script may look at to find their logins.
  call.unread_to_look_at = 20000
  -- A message counts for the login that sent it, or caused Coord to send it: the field 'SEQUENCE refs' of keys.bodies has the number of
  -- inboxes that contain the message, its bytes and that login. If it is absent, or has only the first, the message counts for no login.
  call.mail_bytes = {} -- login -> bytes, counted by count_mail()
end

-- The inbox of messages that former members had not read.
local LEFT = '-'
Deliver.LEFT = LEFT

function Deliver.bytes_of(message, recipients)
  local BYTES_OF_MESSAGE, BYTES_OF_RECIPIENT = 512, 128
  return #message.message + #(message.summary or '') + BYTES_OF_MESSAGE + BYTES_OF_RECIPIENT * recipients
end

-- The field 'SEQUENCE refs' of a new message, whose bytes it adds to mail_bytes.
local function refs_of(call, message, recipients)
  local login, bytes = message.login or call.request.user_id, Deliver.bytes_of(message, recipients)
  call.mail_bytes[login] = (call.mail_bytes[login] or 0) + bytes
  return recipients .. ' ' .. bytes .. ' ' .. login
end

function Deliver.count_mail(call)
  for login, bytes in pairs(call.mail_bytes) do
    TeamBytes.count_bytes(call, 'mail', login, bytes)
  end
  call.mail_bytes = {}
end

-- Removes each of these messages from one inbox; one that is in no inbox any more is deleted. The calling code counts the freed bytes.
function Deliver.drop_bodies(call, sequences)
  local refs, kept, removed = {}, {}, {}
  for index, sequence in ipairs(sequences) do
    refs[index] = sequence .. ' refs'
  end
  for index, stored in ipairs(#refs > 0 and redis.call('HMGET', call.keys.bodies, unpack(refs)) or {}) do
    local count, counted = string.match(stored or '1', '^(%d+)(.*)$')
    if tonumber(count) > 1 then
      kept[#kept + 1] = refs[index]
      kept[#kept + 1] = string.format('%.0f', count - 1) .. counted
    else
      local bytes, login = string.match(counted, '^ (%d+) (.*)$')
      if bytes then
        call.mail_bytes[login] = (call.mail_bytes[login] or 0) - bytes
      end
      removed[#removed + 1] = sequences[index]
      removed[#removed + 1] = refs[index]
      removed[#removed + 1] = sequences[index] .. ' left'
    end
  end
  if #kept > 0 then
    redis.call('HSET', call.keys.bodies, unpack(kept))
  end
  if #removed > 0 then
    redis.call('HDEL', call.keys.bodies, unpack(removed))
  end
end

local function drop_entry(call, inbox, entry)
  local sequence, sender, own = string.match(entry, '^(%d+) %d+ ?(%S*) ?(%d*)$')
  redis.call('ZREM', call.keys.mail, inbox .. ' ' .. entry)
  if sender ~= '' then
    redis.call('ZREM', call.keys.mail, '>' .. sender .. ' ' .. sequence .. ' ' .. own)
  end
  Deliver.drop_bodies(call, { string.format('%.0f', tonumber(sequence)) })
end

-- Drops the oldest entry of an inbox, if it is among the first `most` that arrived there. Returns whether it was.
function Deliver.drop_oldest(call, inbox, most)
  local entry = Inbox.entries_after(call, inbox, 0, 1)[1] or ''
  local ordinal = string.match(entry, '^%d+ (%d+)')
  if not ordinal or tonumber(ordinal) > most then
    return false
  end
  drop_entry(call, inbox, entry)
  return true
end

-- How many of these entries of an inbox count for the caller's login, and the first of them.
local function count_own(call, entries)
  local AT_ONCE = 1000
  local own, oldest = 0, nil
  for first = 1, #entries, AT_ONCE do
    local refs = {}
    for index = first, math.min(first + AT_ONCE - 1, #entries) do
      refs[#refs + 1] = string.format('%.0f refs', tonumber(string.match(entries[index], '^%d+')))
    end
    for index, stored in ipairs(redis.call('HMGET', call.keys.bodies, unpack(refs))) do
      if string.match(stored or '', '^%d+ %d+ (.*)$') == call.request.user_id then
        own, oldest = own + 1, oldest or entries[first + index - 1]
      end
    end
  end
  return own, oldest
end

-- Makes room for `bytes` of messages; nil, or what exceeded_limit() returns if there is no room. To make room, it drops messages that
-- members had not read when they left, then the oldest of `inboxes`, each { inbox, how many of those that arrived there may go }. They stay
-- dropped even after a refusal.
local function make_room(call, bytes, inboxes)
  local MAX_DROPPED, dropped = 256, 0
  local limit, most = TeamBytes.exceeded_limit(call, 'mail', bytes)
  if not limit then
    return nil
  end
  table.insert(inboxes, 1, { LEFT, 1 })
  for _, inbox in ipairs(inboxes) do
    while limit and dropped < MAX_DROPPED and Deliver.drop_oldest(call, inbox[1], inbox[2]) do
      Deliver.count_mail(call)
      dropped, limit, most = dropped + 1, TeamBytes.exceeded_limit(call, 'mail', bytes)
    end
  end
  return limit and limit .. '; messages that were read make room', most
end

-- The refusal of a message that deliver() or broadcast() did not send: they return nil, and the arguments of this function.
function Deliver.refuse_message(call, full_inbox, limit, most)
  if full_inbox then
    return Team.refuse(call, 'INBOX_FULL', { handle = full_inbox, unread = most })
  end
  return Team.refuse(call, 'TOO_MANY', { what = limit, most = most })
end

local function emit_message(call, message, recipients)
  Emit.event(call, {
    type = 'message_sent',
    team = call.team.name,
    number = message.id,
    message_type = message.kind,
    from = message.from,
    to = message.to,
    recipients = Emit.names_of(recipients),
    recipient_count = #recipients,
    task = message.task_id,
  }, call.request.user_id)
end

-- The marks of members' inboxes, by handle.
function Deliver.marks_of_all(call, handles)
  local fields, marks = {}, {}
  for index, handle in ipairs(handles) do
    fields[index] = call.team_key .. '/' .. string.lower(handle)
  end
  for index, stored in ipairs(redis.call('HMGET', call.keys.members, unpack(fields))) do
    marks[handles[index]] = InboxCounts.marks_of(stored)
  end
  return marks
end

function Deliver.is_full(marks, most_unread)
  return marks.direct - marks.read_direct >= most_unread
end

-- Whether unread messages of the caller's login already fill a quarter of the inbox. A login may fill only the inboxes of its own agents.
-- The messages are looked at only once the inbox has that many.
function Deliver.has_sent_share(call, handle, marks, most_unread)
  if not Deliver.is_full(marks, most_unread / 4) or (Team.load_member(call, handle) or {}).login == call.request.user_id then
    return false
  end
  if call.unread_to_look_at <= 0 then
    return true
  end
  local entries = Inbox.entries_after(call, '=' .. string.lower(handle), marks.read, MAX_UNREAD_FROM_COORD)
  call.unread_to_look_at = call.unread_to_look_at - #entries
  return count_own(call, entries) >= most_unread / 4
end

-- Sends messages, each to its `handles`; no handle gets more than one. `marks`: those of all handles.
function Deliver.deliver_all(call, messages, marks)
  local MAX_READ_KEPT = 1000
  call.sequence = redis.call('HINCRBY', call.keys.team, 'sequence', #messages)
  local entries, changed, bodies = {}, {}, {}
  for index, message in ipairs(messages) do
    local handles = message.handles
    message.handles, message.id, message.time = nil, call.sequence - #messages + index, call.now_ms
    for _, handle in ipairs(handles) do
      local counts, inbox = marks[handle], '=' .. string.lower(handle)
      counts.direct, counts.last = counts.direct + 1, message.id
      if counts.direct > MAX_READ_KEPT and counts.direct - MAX_READ_KEPT <= counts.read_direct then
        Deliver.drop_oldest(call, inbox, counts.direct - MAX_READ_KEPT)
      end
      entries[#entries + 1] = 0
      entries[#entries + 1] = inbox .. ' ' .. Inbox.padded(message.id) .. ' ' .. counts.direct
      changed[#changed + 1] = call.team_key .. '/' .. string.lower(handle)
      changed[#changed + 1] = Marks.marks_text(counts)
    end
    local field = string.format('%.0f', message.id)
    bodies[#bodies + 1] = field
    bodies[#bodies + 1] = cjson.encode(message)
    bodies[#bodies + 1] = field .. ' refs'
    bodies[#bodies + 1] = refs_of(call, message, #handles)
    emit_message(call, message, handles)
  end
  redis.call('ZADD', call.keys.mail, unpack(entries))
  redis.call('HSET', call.keys.members, unpack(changed))
  redis.call('HSET', call.keys.bodies, unpack(bodies))
  Deliver.count_mail(call)
end

-- Sends a message to members, by their handles; returns the sequence, or nil and the arguments of refuse_message().
function Deliver.deliver(call, handles, message, most_unread)
  local marks, inboxes = Deliver.marks_of_all(call, handles), {}
  for index, handle in ipairs(handles) do
    if Deliver.is_full(marks[handle], most_unread) then
      return nil, handle, nil, most_unread
    elseif Deliver.has_sent_share(call, handle, marks[handle], most_unread) then
      return nil, nil, 'unread messages of one login to one member', most_unread / 4
    end
    inboxes[index] = { '=' .. string.lower(handle), marks[handle].read_direct }
  end
  local limit, most = make_room(call, Deliver.bytes_of(message, #handles), inboxes)
  if limit then
    return nil, nil, limit, most
  end
  message.handles = handles
  Deliver.deliver_all(call, { message }, marks)
  return call.sequence
end

-- Sends a message to all other members, except those that join later; returns the same as deliver(). The newest 1,000 broadcasts stay, but a
-- login that has a quarter of them loses its own oldest.
function Deliver.broadcast(call, message)
  local MAX_BROADCASTS = 1000
  local sender = string.lower(call.member.handle)
  local stored, broadcasts = unpack(redis.call('HMGET', call.keys.members, call.team_key .. '/' .. sender, call.team_key .. '/*'))
  local marks, ordinal = InboxCounts.marks_of(stored), InboxCounts.broadcasts_of(broadcasts) + 1
  local limit, most = make_room(call, Deliver.bytes_of(message, 1), { { '*', ordinal } })
  if limit then
    return nil, nil, limit, most
  end
  call.sequence = redis.call('HINCRBY', call.keys.team, 'sequence', 1)
  redis.call('HSET', call.keys.members, call.team_key .. '/*', ordinal .. ' ' .. call.sequence)
  marks.own = marks.own + 1
  local entries = ordinal > MAX_BROADCASTS and Inbox.entries_after(call, '*', 0, MAX_BROADCASTS) or {}
  if #entries == MAX_BROADCASTS then
    local own, oldest = count_own(call, entries)
    drop_entry(call, '*', own >= MAX_BROADCASTS / 4 and oldest or entries[1])
  end
  redis.call(
    'ZADD',
    call.keys.mail,
    0,
    '* ' .. Inbox.padded(call.sequence) .. ' ' .. ordinal .. ' ' .. sender .. ' ' .. marks.own,
    0,
    '>' .. sender .. ' ' .. Inbox.padded(call.sequence) .. ' ' .. marks.own
  )
  Marks.save_marks(call, sender, marks)
  message.id, message.time = call.sequence, call.now_ms
  local field = string.format('%.0f', call.sequence)
  redis.call('HSET', call.keys.bodies, field, cjson.encode(message), field .. ' refs', refs_of(call, message, 1))
  Deliver.count_mail(call)
  emit_message(call, message, {})
  return call.sequence
end

return Deliver
