-- The counts in the fields TEAM/HANDLE and TEAM/* of keys.members.
local InboxCounts = {}

-- Counts of an inbox, as text in the field TEAM/HANDLE. `direct`: messages to the member since it joined, and `last`: the
-- sequence of the newest; `own`: its broadcasts; `read`: the sequence up to which it has read everything, with the number of
-- messages to it, of broadcasts and of its own broadcasts up to there; `given`: the last cursor that it received, with its
-- numbers of broadcasts and own broadcasts.
local MARKS = {
  'direct',
  'last',
  'own',
  'read',
  'read_direct',
  'read_broadcast',
  'read_own',
  'given',
  'given_broadcast',
  'given_own',
}
InboxCounts.MARKS = MARKS

function InboxCounts.marks_of(text)
  local marks, index = {}, 0
  for number in string.gmatch(text or '', '%d+') do
    index = index + 1
    marks[MARKS[index]] = tonumber(number)
  end
  return marks
end

-- The numbers in the field TEAM/*: number of broadcasts, and the sequence of the newest.
function InboxCounts.broadcasts_of(text)
  local count, last = string.match(text or '', '^(%d+) (%d+)$')
  return tonumber(count or 0), tonumber(last or 0)
end

-- How many messages the member has not read.
function InboxCounts.unread_of(marks, broadcasts)
  return marks.direct - marks.read_direct + (broadcasts - marks.read_broadcast) - (marks.own - marks.read_own)
end

return InboxCounts
