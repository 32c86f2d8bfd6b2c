-- Writes the counts of an inbox.
local InboxCounts = require('teams/inbox_counts')

local Marks = {}

function Marks.marks_text(marks)
  local numbers = {}
  for index, name in ipairs(InboxCounts.MARKS) do
    numbers[index] = string.format('%.0f', marks[name])
  end
  return table.concat(numbers, ' ')
end

function Marks.save_marks(call, handle_key, marks)
  redis.call('HSET', call.keys.members, call.team_key .. '/' .. handle_key, Marks.marks_text(marks))
end

return Marks
