-- Writes the counts of an inbox. Needs: team.
-- @include teams/inbox_counts

local function marks_text(marks)
  local numbers = {}
  for index, name in ipairs(MARKS) do
    numbers[index] = string.format('%.0f', marks[name])
  end
  return table.concat(numbers, ' ')
end

local function save_marks(handle_key, marks)
  redis.call('HSET', keys.members, team_key .. '/' .. handle_key, marks_text(marks))
end
