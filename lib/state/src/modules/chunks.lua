-- Lists longer than the limit of Lua's unpack, which fails near 8,000 values.
local Chunks = {}

-- Runs `command key values...` in chunks of values. The chunk size is even, so that pairs stay together.
function Chunks.call_in_chunks(command, key, values)
  local CHUNK = 1000
  for first = 1, #values, CHUNK do
    redis.call(command, key, unpack(values, first, math.min(first + CHUNK - 1, #values)))
  end
end

-- The values of these fields of a hash, false for a missing field.
function Chunks.values_of(key, fields)
  local CHUNK = 1000
  local values = {}
  for first = 1, #fields, CHUNK do
    for _, value in ipairs(redis.call('HMGET', key, unpack(fields, first, math.min(first + CHUNK - 1, #fields)))) do
      values[#values + 1] = value
    end
  end
  return values
end

-- A copy of `count` elements of `list` from `first` on; without a count, of all the rest.
function Chunks.slice(list, first, count)
  local slice = {}
  for index = first, count and first + count - 1 or #list do
    slice[#slice + 1] = list[index]
  end
  return slice
end

return Chunks
