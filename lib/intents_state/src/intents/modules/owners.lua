-- The files that intents own, and their recorded content.
-- Under a file path is a JSON list, an entry for each intent that owns it or did, at most one for each branch: `intent`;
-- `branch`, absent for every branch; `hash`: the content that was recorded last, absent before the first change;
-- `earlier`: up to 16 earlier contents, the newest first, absent for none;
-- `since`: `hash` when a claim made the intent the owner; `from`, `from_branch`: the previous owner, and its branch.
local Chunks = require('chunks')
local Records = require('intents/records')

local Owners = {}

-- Whether two branches, nil for every one, have one in common.
function Owners.have_common_branch(one, other)
  return one == nil or other == nil or one == other
end

-- The entries of each of `paths`: path -> list.
function Owners.of(call, paths)
  local PATHS_AT_ONCE = 1000
  local entries_of = {}
  for first = 1, #paths, PATHS_AT_ONCE do
    local last = math.min(first + PATHS_AT_ONCE - 1, #paths)
    local values = redis.call('HMGET', call.keys.owners, unpack(paths, first, last))
    for offset = 1, last - first + 1 do
      local value = values[offset]
      entries_of[paths[first + offset - 1]] = value and cjson.decode(value) or {}
    end
  end
  return entries_of
end

-- Whether `value`, stored under a file, may name one of these ids (id -> true), as the owner or the previous one. It searches the text that
-- cjson writes: most of thousands of values name none, and searching is much cheaper than decoding.
function Owners.may_name(value, ids)
  for named in string.gmatch(value, '":"([%w._-]+)"') do
    if ids[named] then
      return true
    end
  end
  return false
end

-- Makes `intent` an owner in `entries`, those of a file; `branch` is that of the intent, nil for every branch. It replaces other owners
-- on a common branch, and keeps the recorded content. Returns the first of these owners, or nil.
function Owners.take_file(entries, intent, branch)
  local owner, previous = { intent = intent, branch = branch }, nil
  for index = #entries, 1, -1 do
    local entry = entries[index]
    if Owners.have_common_branch(entry.branch, branch) then
      -- The newest is the last.
      if entry.hash and not owner.hash then
        owner.hash, owner.earlier = entry.hash, entry.earlier
      end
      previous = entry.intent ~= intent and entry.intent or previous
      table.remove(entries, index)
    end
  end
  entries[#entries + 1] = owner
  return previous
end

local MAX_PER_FILE = 8

-- Drops the oldest of `entries`, those of a file, until MAX_PER_FILE are left, but never those of active intents or the last one.
-- Returns whether that succeeded.
function Owners.has_room_in(call, entries)
  local index = 1
  while #entries > MAX_PER_FILE and index < #entries do
    if Records.is_active(Records.of(call, entries[index].intent)) then
      index = index + 1
    else
      table.remove(entries, index)
    end
  end
  return #entries <= MAX_PER_FILE
end

-- Whether there is room for `count` more files. If there is none, it drops files that no active intent owns, from a sample that
-- differs each time. Then only the ledger has their content.
function Owners.has_room_for(call, count)
  local MAX_FILES, MAX_LOOKED_AT = 20000, 2000
  local room = MAX_FILES - redis.call('HLEN', call.keys.owners)
  if count <= room then
    return true
  end
  local names, sample, dropped = redis.call('HKEYS', call.keys.owners), {}, {}
  for offset = 1, math.min(MAX_LOOKED_AT, #names) do
    sample[offset] = names[(call.now_ms + offset) % #names + 1]
  end
  for path, entries in pairs(Owners.of(call, sample)) do
    local is_owned = false
    for _, entry in ipairs(entries) do
      is_owned = is_owned or Records.is_active(Records.of(call, entry.intent))
    end
    if not is_owned then
      dropped[#dropped + 1] = path
    end
  end
  Chunks.call_in_chunks('HDEL', call.keys.owners, dropped)
  return count <= room + #dropped
end

return Owners
