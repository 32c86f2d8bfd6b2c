-- Counts of held locks, in number and in bytes: a lock counts as one for each KiB begun, and most count as one. `held` is a
-- hash: '@' and a user id -> the count of that person in the repository, and `all` -> the total. Every script that changes
-- entries keeps it exact.
local Chunks = require('chunks')

local Held = {}

function Held.begin(call)
  call.held_change = {} -- field -> change that is not yet written to `held`
  call.held_sum = {} -- field -> the count after it was written
  call.counted_out = 0 -- how many of `expired` have been subtracted
end

function Held.change(call, owner, amount)
  for _, field in ipairs({ '@' .. owner, 'all' }) do
    call.held_change[field] = (call.held_change[field] or 0) + amount
  end
end

-- The count of a lock with these texts. The path is counted twice: the key contains it.
function Held.size_of(key, path, message, name)
  return math.ceil((#key + #path + #message + #name + 256) / 1024)
end

-- Subtracts a stored entry that is removed.
function Held.count_out(call, entry)
  Held.change(call, entry.user_id, -Held.size_of(entry.key, entry.file_path, entry.message, entry.user_name))
end

-- Writes the changed counts.
function Held.save(call)
  for index = call.counted_out + 1, #call.expired do
    Held.count_out(call, call.expired[index])
  end
  call.counted_out = #call.expired
  local emptied = {}
  for field, change in pairs(call.held_change) do
    if change ~= 0 then
      call.held_sum[field] = redis.call('HINCRBY', call.keys.held, field, change)
      if call.held_sum[field] <= 0 then
        emptied[#emptied + 1] = field
      end
    end
  end
  Chunks.call_in_chunks('HDEL', call.keys.held, emptied)
  call.held_change = {}
end

return Held
