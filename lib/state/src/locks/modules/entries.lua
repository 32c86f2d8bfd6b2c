-- Lock entries as stored: under each file path a JSON array, for all branches. An expired entry is free, swept or not; the
-- first script that reads it drops and announces it (changes.lua).
--
-- The end of a lock is `expiry_ms`, Unix milliseconds: the lock lasts through that millisecond. `expiry` is the same in
-- whole seconds, rounded down as `timestamp` is; their difference is the time to live of the lock.
local Entries = {}

-- Maximum locks on the files of one request; a large lock counts once for each BYTES_OF_ENTRY bytes.
local MAX_AT_ONCE, BYTES_OF_ENTRY = 4096, 512
Entries.MAX_AT_ONCE = MAX_AT_ONCE

function Entries.begin(call)
  call.entries_of = {} -- file path -> its live entries, all branches
  call.is_changed = {} -- file path -> true where entries_of differs from the store
  call.expired = {} -- entries that had expired
  call.json_of = {} -- entry -> its JSON, once the entry is final
  call.loaded = 0 -- entries that have been read; a large entry counts as several
end

-- Without `expiry_ms`, which older entries lack, the first millisecond of `expiry` is the last of the lock.
function Entries.has_expired(call, entry)
  return (entry.expiry_ms or entry.expiry * 1000) < call.now_ms
end

-- The JSON of `entry`, which must be final.
function Entries.to_json(call, entry)
  local json = call.json_of[entry] or cjson.encode(entry)
  call.json_of[entry] = json
  return json
end

-- Functions that look at thousands of files and report few search the stored entries without decoding them, which takes ten times as long.
-- cjson writes an entry, a flat object, as {"name":"text",...} without blanks, so that `{"` begins an entry and nothing else. No text can
-- contain a field: its quotes are escaped.

-- A field as cjson writes it, without its first quote: a search for a quote would stop at every quote in a text, which may have hundreds.
function Entries.field(name, text)
  return name .. '":' .. cjson.encode(text)
end

-- The position of the field in `value` from `first` on, math.huge for none.
local function find_field(value, field, first)
  local QUOTE = 34
  local position = string.find(value, field, first, true)
  while position and string.byte(value, position - 1) ~= QUOTE do
    position = string.find(value, field, position + 1, true)
  end
  return position or math.huge
end

-- Whether any entry of `value` has the field.
function Entries.any_has(value, field)
  return find_field(value, field, 1) ~= math.huge
end

-- Whether one entry of `value` has the fields `one` and `other`, and not the field `without`, if that is given.
function Entries.one_has(value, one, other, without)
  local first, at_one, at_other, at_without = string.find(value, '{"', 1, true), 0, 0, 0
  while first do
    local next_entry = string.find(value, '{"', first + 2, true)
    at_one = at_one < first and find_field(value, one, first) or at_one
    at_other = at_other < first and find_field(value, other, first) or at_other
    local last = math.max(at_one, at_other)
    if last == math.huge then
      return false
    elseif last < (next_entry or math.huge) then
      at_without = without and at_without < first and find_field(value, without, first) or at_without
      if not without or at_without >= (next_entry or math.huge) then
        return true
      end
    end
    first = next_entry
  end
  return false
end

-- Whether `value` has a single entry, as most values have.
function Entries.is_single(value)
  return not string.find(value, '{"', 4, true)
end

-- Whether an entry of `value` may be for writing: the search for a rare word is faster than that for a field.
function Entries.may_write(value)
  return string.find(value, 'WRITING', 1, true) ~= nil
end

-- Calls `visit(path, value)` with the stored value of each of `paths`, false for none. Stops when `visit` returns false.
function Entries.each_value(call, paths, visit)
  local PATHS_AT_ONCE = 1000
  for first = 1, #paths, PATHS_AT_ONCE do
    local last = math.min(first + PATHS_AT_ONCE - 1, #paths)
    local values = redis.call('HMGET', call.keys.locks, unpack(paths, first, last))
    for offset = 1, last - first + 1 do
      if visit(paths[first + offset - 1], values[offset]) == false then
        return
      end
    end
  end
end

-- Reads `value`, stored under `path`, into entries_of; `entries` is its decoded content, if known.
function Entries.load_value(call, path, value, entries)
  if call.entries_of[path] then
    -- Read before, for another part of the request.
    return
  end
  local live = {}
  entries = entries or cjson.decode(value)
  call.loaded = call.loaded + math.max(#entries, math.ceil(#value / BYTES_OF_ENTRY))
  for _, entry in ipairs(entries) do
    if Entries.has_expired(call, entry) then
      call.expired[#call.expired + 1] = entry
      call.is_changed[path] = true
    else
      live[#live + 1] = entry
    end
  end
  call.entries_of[path] = live
end

-- Reads the entries of `paths` into entries_of, each path once. Returns the number of paths with a stored value. Stops with nil
-- once it has read more than `most` entries.
function Entries.load(call, paths, most)
  local stored = 0
  Entries.each_value(call, paths, function(path, value)
    if value then
      stored = stored + 1
      Entries.load_value(call, path, value)
      return call.loaded <= most
    end
    call.entries_of[path] = call.entries_of[path] or {}
  end)
  return call.loaded <= most and stored or nil
end

return Entries
