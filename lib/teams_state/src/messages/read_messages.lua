-- read_messages: returns the messages after a cursor, and marks those up to the cursor as read.
-- KEYS: those of admission/request, of a team (`team_keys.rs`)
-- The request has the fields of teams/team, `cursor`, absent for the unread ones, `most` messages, `most_bytes`, and `is_for_another`:
-- someone else reads for the member; then the member does not count as seen, and its claims are not renewed.
-- Returns Team.reply(): READ, the new `cursor`, `missed`: number of broadcasts that were dropped unread, `unread`: number of messages,
-- `has_more`: more follow, `messages`, each as JSON, absent for none, the open `shutdown`, absent for none, and the caller's `handle`; or
-- REFUSED; or one of the denials of Admission.admit()
local Admission = require('admission/admission')
local Answer = require('answer')
local Entries = require('locks/entries')
local Held = require('locks/held')
local Inbox = require('mail/inbox')
local InboxCounts = require('teams/inbox_counts')
local Marks = require('teams/marks')
local Renewals = require('tasks/renewals')
local Team = require('teams/team')

-- The caller's inbox: `me`: the handle in lower case; `marks` of teams/inbox_counts; `broadcasts`: number of broadcasts, and
-- `last_broadcast`: sequence of the newest.
local function load_inbox(call)
  local inbox = { me = string.lower(call.member.handle) }
  local stored, broadcasts = unpack(redis.call('HMGET', call.keys.members, call.team_key .. '/' .. inbox.me, call.team_key .. '/*'))
  inbox.marks = InboxCounts.marks_of(stored)
  inbox.broadcasts, inbox.last_broadcast = InboxCounts.broadcasts_of(broadcasts)
  return inbox
end

-- How many broadcasts, and how many of the caller's own, arrived up to `position`, by the entries that stay.
local function count_broadcasts(call, inbox, position)
  return Inbox.count_up_to(call, '*', position, inbox.broadcasts), Inbox.count_up_to(call, '>' .. inbox.me, position, inbox.marks.own)
end

-- The same for a cursor that is not the end of a page. If broadcasts after it were dropped, the entries do not tell these from those before
-- it. Then the number is computed back from the end of the page, by the number of messages between. That is exact, except that each message
-- between other members may count as a missed broadcast.
local function compute_broadcasts(call, inbox, position)
  local me, marks = inbox.me, inbox.marks
  local to_all, own = count_broadcasts(call, inbox, position)
  local oldest = Inbox.entries_after(call, '*', 0, 1)[1]
  if not oldest or tonumber(string.match(oldest, '^%d+')) <= position then
    return to_all, own
  end
  local base, base_broadcast, base_own = marks.given, marks.given_broadcast, marks.given_own
  if base < marks.read then
    base, base_broadcast, base_own = marks.read, marks.read_broadcast, marks.read_own
  end
  local direct = Inbox.count_up_to(call, '=' .. me, base, marks.direct) - Inbox.count_up_to(call, '=' .. me, position, marks.direct)
  local computed = base_broadcast - (base - position - direct)
  return math.max(marks.read_broadcast, math.min(to_all, computed)), position < base and math.min(own, base_own) or own
end

-- Marks the messages up to `cursor` as read.
local function mark_read(call, inbox, cursor)
  local marks = inbox.marks
  if cursor == marks.given then
    marks.read_broadcast, marks.read_own = marks.given_broadcast, marks.given_own
  else
    marks.read_broadcast, marks.read_own = compute_broadcasts(call, inbox, cursor)
  end
  marks.read, marks.read_direct = cursor, Inbox.count_up_to(call, '=' .. inbox.me, cursor, marks.direct)
end

-- Merges the next entries of both inboxes by sequence. Returns the sequences of the messages to return, the last sequence that it looked
-- at, whether more may follow, and the entries of broadcasts.
local function next_entries(call, inbox, start)
  local most = call.request.most
  local direct, to_all = Inbox.entries_after(call, '=' .. inbox.me, start, most), Inbox.entries_after(call, '*', start, most)
  local is_cut_direct, is_cut_to_all = #direct == most, #to_all == most
  local sequences, direct_index, to_all_index, last = {}, 1, 1, start
  while #sequences < most do
    local message, broadcast = direct[direct_index], to_all[to_all_index]
    -- If an inbox may continue in the store, nothing after the end of its list is returned.
    if (not message and is_cut_direct) or (not broadcast and is_cut_to_all) or not (message or broadcast) then
      break
    end
    if message and (not broadcast or message < broadcast) then
      last = tonumber(string.match(message, '^%d+'))
      sequences[#sequences + 1], direct_index = last, direct_index + 1
    else
      local sequence, sender = string.match(broadcast, '^(%d+) %d+ (%S+)')
      last, to_all_index = tonumber(sequence), to_all_index + 1
      if sender ~= inbox.me then
        sequences[#sequences + 1] = last
      end
    end
  end
  return sequences, last, is_cut_direct or is_cut_to_all or direct[direct_index] ~= nil or to_all[to_all_index] ~= nil, to_all
end

-- The page after `start`: the messages, the new cursor, `cursor` if there is no message, whether more follow, and the entries of broadcasts.
local function read_page(call, inbox, start, cursor)
  local sequences, last, has_more, to_all = next_entries(call, inbox, start)
  local messages, names, bytes = {}, {}, 0
  for index, sequence in ipairs(sequences) do
    names[index] = string.format('%.0f', sequence)
  end
  for index, body in ipairs(#names > 0 and redis.call('HMGET', call.keys.bodies, unpack(names)) or {}) do
    bytes = bytes + #body
    if bytes > call.request.most_bytes and index > 1 then
      has_more, last = true, cursor
      break
    end
    messages[index], cursor = body, sequences[index]
  end
  -- The last sequence also skips the caller's own broadcasts.
  return messages, has_more and last or cursor, has_more, to_all
end

-- Records that the page from `start` to `cursor`, with these entries of broadcasts, was given to the caller. Returns how many broadcasts were
-- dropped before the caller got to them.
local function mark_given(call, inbox, start, cursor, to_all)
  local marks, missed = inbox.marks, 0
  local base_broadcast, base_own = marks.read_broadcast, marks.read_own
  if start == marks.given then
    base_broadcast, base_own = marks.given_broadcast, marks.given_own
  end
  local start_broadcast, start_own = count_broadcasts(call, inbox, start)
  if start == marks.read or start == marks.given then
    missed = start_broadcast - base_broadcast - (start_own - base_own)
  end
  if cursor > start then
    marks.given = cursor
    marks.given_broadcast, marks.given_own = count_broadcasts(call, inbox, cursor)
    -- And those that were dropped between others that stay.
    missed = missed + marks.given_broadcast - start_broadcast - (marks.given_own - start_own)
    for _, entry in ipairs(to_all) do
      local sequence, sender = string.match(entry, '^(%d+) %d+ (%S+)')
      missed = missed - (tonumber(sequence) <= cursor and sender ~= inbox.me and 1 or 0)
    end
  end
  return missed
end

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)
  Entries.begin(call)
  Held.begin(call)

  local cursor, is_for_another = call.request.cursor, call.request.is_for_another
  local denial = Admission.admit(call) or Team.enter(call, false, is_for_another)
  if denial then
    return denial
  end
  if cursor and cursor > call.sequence then
    return Team.refuse(call, 'CURSOR_AHEAD', { cursor = cursor, newest = call.sequence })
  end
  local inbox = load_inbox(call)
  local marks = inbox.marks
  local is_acknowledged = cursor and cursor > marks.read
  if is_acknowledged then
    mark_read(call, inbox, cursor)
  end
  local start = math.max(cursor or marks.read, call.member.from)
  local messages, new_cursor, has_more, missed = {}, cursor or start, false, 0
  if math.max(marks.last, inbox.last_broadcast) > start then
    local to_all
    messages, new_cursor, has_more, to_all = read_page(call, inbox, start, new_cursor)
    missed = mark_given(call, inbox, start, new_cursor, to_all)
  end
  if is_acknowledged or new_cursor > start then
    Marks.save_marks(call, inbox.me, marks)
  end
  if not is_for_another then
    Renewals.renew(call)
  end
  call.unread = InboxCounts.unread_of(marks, inbox.broadcasts)
  return Team.reply(call, 'READ', {
    cursor = new_cursor,
    missed = math.max(missed, 0),
    unread = call.unread,
    has_more = has_more,
    messages = Answer.some(messages),
    shutdown = call.shutdown,
    handle = call.member.handle,
  })
end
