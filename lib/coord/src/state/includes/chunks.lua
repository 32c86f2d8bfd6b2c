-- Lists that may be longer than what Lua's unpack can take, which gives up near 8,000 values.

-- Runs `command key values...`, so many values at a time. Their number is even, which keeps pairs together.
local function call_in_chunks(command, key, values)
  local CHUNK = 1000
  for first = 1, #values, CHUNK do
    redis.call(command, key, unpack(values, first, math.min(first + CHUNK - 1, #values)))
  end
end

-- `count` elements of `list` from `first` on; all of the rest without a count.
local function part_of(list, first, count)
  local part = {}
  for index = first, count and first + count - 1 or #list do
    part[#part + 1] = list[index]
  end
  return part
end
