-- Limits of held locks, in number and in bytes: a lock counts as one for each KiB begun, and most have one. `held` is a hash
-- of '@' and a user id -> the count of that person in the repository, and `all` -> the total. Every script that changes
-- entries keeps it exact. Needs: keys.held.
-- @include chunks
-- @include locks/entries

local held_change = {} -- field -> what `held` does not know yet
local held_sum = {} -- field -> what it came to when it was changed
local counted_out = 0 -- how many of `expired` are in that

local function change_held(owner, amount)
  for _, field in ipairs({ '@' .. owner, 'all' }) do
    held_change[field] = (held_change[field] or 0) + amount
  end
end

-- The count of a lock with these texts. The path is counted twice: the key contains it.
local function size_of(key, path, message, name)
  return math.ceil((#key + #path + #message + #name + 256) / 1024)
end

-- Counts a stored entry that is removed.
local function count_out(entry)
  change_held(entry.user_id, -size_of(entry.key, entry.file_path, entry.message, entry.user_name))
end

-- Writes the changes of the counts.
local function save_held()
  for index = counted_out + 1, #expired do
    count_out(expired[index])
  end
  counted_out = #expired
  local emptied = {}
  for field, change in pairs(held_change) do
    if change ~= 0 then
      held_sum[field] = redis.call('HINCRBY', keys.held, field, change)
      if held_sum[field] <= 0 then
        emptied[#emptied + 1] = field
      end
    end
  end
  call_in_chunks('HDEL', keys.held, emptied)
  held_change = {}
end
