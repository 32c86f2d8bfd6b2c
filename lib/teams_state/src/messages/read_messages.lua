-- read_messages: returns the messages after a cursor; those before the cursor are marked as read.
-- KEYS: those of admission/request, of a team (`team_keys.rs`)
-- The request has the fields of teams/team, `cursor`, absent for the unread ones, `most` messages, `most_bytes`, and `is_for_another`:
-- someone else reads for the member: then it is not noted as seen, and its claims are not renewed.
-- Returns Team.reply(): READ, the new `cursor`, `missed`: number of broadcasts that are dropped unread, `unread`: number of messages,
-- `has_more`: others follow, `messages`, each as JSON, absent for none, the open `shutdown`, absent for none, and the caller's `handle`; or
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

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)
  Entries.begin(call)
  Held.begin(call)

  local cursor, most, is_for_another = call.request.cursor, call.request.most, call.request.is_for_another
  local denial = Admission.admit(call) or Team.enter(call, false, is_for_another)
  if denial then
    return denial
  end
  if cursor and cursor > call.sequence then
    return Team.refuse(call, 'CURSOR_AHEAD', { cursor = cursor, newest = call.sequence })
  end
  local me = string.lower(call.member.handle)
  local stored, stored_broadcasts = unpack(redis.call('HMGET', call.keys.members, call.team_key .. '/' .. me, call.team_key .. '/*'))
  local marks, is_changed = InboxCounts.marks_of(stored), false
  local broadcasts, last_broadcast = InboxCounts.broadcasts_of(stored_broadcasts)
  -- How many broadcasts, and how many of the caller's own, came up to a cursor that is not the end of a page. If some after it are
  -- dropped, the entries do not distinguish these from those before it. Then it is reckoned from the end of the page, by the number of
  -- messages between: exactly, but for messages among others, for each of which a broadcast may count as missed that was not.
  local function counts_within(within)
    local to_all, own = Inbox.count_up_to(call, '*', within, broadcasts), Inbox.count_up_to(call, '>' .. me, within, marks.own)
    local oldest = Inbox.entries_after(call, '*', 0, 1)[1]
    if not oldest or tonumber(string.match(oldest, '^%d+')) <= within then
      return to_all, own
    end
    local known, known_broadcast, known_own = marks.given, marks.given_broadcast, marks.given_own
    if known < marks.read then
      known, known_broadcast, known_own = marks.read, marks.read_broadcast, marks.read_own
    end
    local direct = Inbox.count_up_to(call, '=' .. me, known, marks.direct) - Inbox.count_up_to(call, '=' .. me, within, marks.direct)
    local reckoned = known_broadcast - (known - within - direct)
    return math.max(marks.read_broadcast, math.min(to_all, reckoned)), within < known and math.min(own, known_own) or own
  end
  if cursor and cursor > marks.read then
    if cursor == marks.given then
      marks.read_broadcast, marks.read_own = marks.given_broadcast, marks.given_own
    else
      marks.read_broadcast, marks.read_own = counts_within(cursor)
    end
    marks.read, marks.read_direct = cursor, Inbox.count_up_to(call, '=' .. me, cursor, marks.direct)
    is_changed = true
  end
  local start = math.max(cursor or marks.read, call.member.from)
  local messages, given, missed, has_more = {}, cursor or start, 0, false

  -- The next entries of both inboxes, in one order: the sequences of messages to give, and the last sequence that was looked at.
  local function next_entries()
    local direct, to_all = Inbox.entries_after(call, '=' .. me, start, most), Inbox.entries_after(call, '*', start, most)
    local is_cut_direct, is_cut_to_all = #direct == most, #to_all == most
    local taken, one_at, other_at, last = {}, 1, 1, start
    while #taken < most do
      local one, other = direct[one_at], to_all[other_at]
      -- Where an inbox may go on in the store, nothing after the end of its list is given.
      if (not one and is_cut_direct) or (not other and is_cut_to_all) or not (one or other) then
        break
      end
      if one and (not other or one < other) then
        last = tonumber(string.match(one, '^%d+'))
        taken[#taken + 1], one_at = last, one_at + 1
      else
        local of, sender = string.match(other, '^(%d+) %d+ (%S+)')
        last, other_at = tonumber(of), other_at + 1
        if sender ~= me then
          taken[#taken + 1] = last
        end
      end
    end
    return taken, last, is_cut_direct or is_cut_to_all or direct[one_at] ~= nil or to_all[other_at] ~= nil, to_all
  end

  if math.max(marks.last, last_broadcast) > start then
    local taken, last, to_all
    taken, last, has_more, to_all = next_entries()
    local names = {}
    for index, of in ipairs(taken) do
      names[index] = string.format('%.0f', of)
    end
    local bytes = 0
    for index, body in ipairs(#names > 0 and redis.call('HMGET', call.keys.bodies, unpack(names)) or {}) do
      bytes = bytes + #body
      if bytes > call.request.most_bytes and index > 1 then
        has_more, last = true, given
        break
      end
      messages[index], given = body, taken[index]
    end
    if has_more then
      -- Beyond the caller's own broadcasts, too.
      given = last
    end
    -- Broadcasts that were dropped before the caller came to them.
    local known_broadcast, known_own = marks.read_broadcast, marks.read_own
    if start == marks.given then
      known_broadcast, known_own = marks.given_broadcast, marks.given_own
    end
    local start_broadcast, start_own = Inbox.count_up_to(call, '*', start, broadcasts), Inbox.count_up_to(call, '>' .. me, start, marks.own)
    if start == marks.read or start == marks.given then
      missed = start_broadcast - known_broadcast - (start_own - known_own)
    end
    if given > start then
      marks.given = given
      marks.given_broadcast, marks.given_own =
        Inbox.count_up_to(call, '*', given, broadcasts), Inbox.count_up_to(call, '>' .. me, given, marks.own)
      is_changed = true
      -- And those that were dropped between others that stay.
      missed = missed + marks.given_broadcast - start_broadcast - (marks.given_own - start_own)
      for _, entry in ipairs(to_all) do
        local of, sender = string.match(entry, '^(%d+) %d+ (%S+)')
        missed = missed - (tonumber(of) <= given and sender ~= me and 1 or 0)
      end
    end
  end
  if is_changed then
    Marks.save_marks(call, me, marks)
  end
  if not is_for_another then
    Renewals.renew(call)
  end
  call.unread = InboxCounts.unread_of(marks, broadcasts)
  return Team.reply(call, 'READ', {
    cursor = given,
    missed = math.max(missed, 0),
    unread = call.unread,
    has_more = has_more,
    messages = Answer.some(messages),
    shutdown = call.shutdown,
    handle = call.member.handle,
  })
end
