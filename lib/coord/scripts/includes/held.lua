-- Bounds of what is held, in number and in bytes: a lock counts as one for each KiB of it that has begun, and most have one.
-- `held` is a hash of '@' and a user id -> how many that person has in the repository, and `all` -> how many there are; it is
-- kept exact by every script that changes entries. Needs: held_key, user_id, user_name.
local MOST_UNDER_FILE, MOST_OF_PERSON, MOST_OF_REPOSITORY = 64, 2000, 10000
-- Most locks on the files of one request; those of 512 bytes or less count as one.
local MOST_AT_ONCE = 4096

local held_change = {} -- field -> what `held` does not know yet
local held_sum = {} -- field -> what it came to when it was changed

local function change_held(owner, amount)
  for _, field in ipairs({ '@' .. owner, 'all' }) do
    held_change[field] = (held_change[field] or 0) + amount
  end
end

-- How many locks one of these texts, and of the path twice, counts as.
local function size_of(key, path, message, name)
  return math.ceil((#key + #path + #message + #name + 256) / 1024)
end

-- Counts a stored entry that goes (-1).
local function count_held(entry, sign)
  change_held(entry.user_id, sign * size_of(entry.key, entry.file_path, entry.message, entry.user_name))
end

-- Writes down what has changed.
local function save_held()
  local emptied = {}
  for field, change in pairs(held_change) do
    if change ~= 0 then
      held_sum[field] = redis.call('HINCRBY', held_key, field, change)
      if held_sum[field] <= 0 then
        emptied[#emptied + 1] = field
      end
    end
  end
  call_in_chunks('HDEL', held_key, emptied)
  held_change = {}
end

-- Counts the locks that the caller is about to have on `paths`, under which there are `entries_of` and of which it has `own`. Nil, or what has no room for them,
-- and then nothing is counted: FILE and which, PERSON or REPOSITORY. A renewal always has room.
local function reserve(paths, entries_of, own, key_prefix, message)
  local amount, is_renewal = 0, true
  for _, path in ipairs(paths) do
    local entry = own[path]
    if not entry then
      is_renewal = false
      if #entries_of[path] >= MOST_UNDER_FILE then
        return 'FILE', path
      end
    end
    amount = amount + size_of(key_prefix .. path, path, message, user_name)
      - (entry and size_of(entry.key, path, entry.message, entry.user_name) or 0)
  end
  change_held(user_id, amount)
  save_held()
  if is_renewal or amount <= 0 then
    return nil
  end
  local whose = (held_sum['@' .. user_id] or 0) > MOST_OF_PERSON and 'PERSON'
    or (held_sum.all or 0) > MOST_OF_REPOSITORY and 'REPOSITORY'
    or nil
  if whose then
    change_held(user_id, -amount)
    save_held()
  end
  return whose, ''
end
