-- The files that intents own, and what was recorded of their content.
-- Under a file path is a JSON list, an entry for each intent that owns it or did, at most one for each branch: `intent`;
-- `branch`, absent for every branch; `hash`: the content that was recorded last, absent while nothing was changed;
-- `earlier`: up to 16 contents before, the newest first, absent for none.
-- `since`: `hash` when a claim made the intent the owner; `from`, `from_branch`: the owner that it was taken from, and its branch.
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
  local found = {}
  for first = 1, #paths, PATHS_AT_ONCE do
    local last = math.min(first + PATHS_AT_ONCE - 1, #paths)
    local values = redis.call('HMGET', call.keys.owners, unpack(paths, first, last))
    for offset = 1, last - first + 1 do
      local value = values[offset]
      found[paths[first + offset - 1]] = value and cjson.decode(value) or {}
    end
  end
  return found
end

-- Whether `value`, stored under a file, may name one of these ids (id -> true), as an owner or the one before. As cjson writes it: most of
-- thousands name none, and to search is much cheaper than to decode.
function Owners.may_name(value, ids)
  for named in string.gmatch(value, '":"([%w._-]+)"') do
    if ids[named] then
      return true
    end
  end
  return false
end

-- Makes `intent`, which is about `branch`, nil for every one, an owner in `entries`, those of a file. It takes the place of
-- others on a common branch, and keeps the recorded content. Returns the first of these, or nil.
function Owners.take_file(entries, intent, branch)
  local mine, previous = { intent = intent, branch = branch }, nil
  for index = #entries, 1, -1 do
    local entry = entries[index]
    if Owners.have_common_branch(entry.branch, branch) then
      -- The newest is the last.
      if entry.hash and not mine.hash then
        mine.hash, mine.earlier = entry.hash, entry.earlier
      end
      previous = entry.intent ~= intent and entry.intent or previous
      table.remove(entries, index)
    end
  end
  entries[#entries + 1] = mine
  return previous
end

local MOST_OF_FILE = 8

-- Drops the oldest of `entries`, those of a file, until MOST_OF_FILE are left: not those of active intents, and not the last.
-- Returns whether so few are left.
function Owners.has_room_in(call, entries)
  local index = 1
  while #entries > MOST_OF_FILE and index < #entries do
    if Records.is_active(Records.of(call, entries[index].intent)) then
      index = index + 1
    else
      table.remove(entries, index)
    end
  end
  return #entries <= MOST_OF_FILE
end

-- Whether there is room for `count` files more. Where there is none, files that no active intent owns are dropped, a part of
-- all, which is another one each time: of their content the ledger alone knows then.
function Owners.has_room_for(call, count)
  local MOST_FILES, MOST_LOOKED_AT = 20000, 2000
  local room = MOST_FILES - redis.call('HLEN', call.keys.owners)
  if count <= room then
    return true
  end
  local names, some, dropped = redis.call('HKEYS', call.keys.owners), {}, {}
  for offset = 1, math.min(MOST_LOOKED_AT, #names) do
    some[offset] = names[(call.now_ms + offset) % #names + 1]
  end
  for path, entries in pairs(Owners.of(call, some)) do
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
