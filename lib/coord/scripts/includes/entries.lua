-- Lock entries: read, changed in memory, and written back once. An entry whose time has passed is free, whether or not
-- anything swept it; the first script that meets it drops and announces it. Needs: locks_key, expiries_key, now_ms, emit,
-- count_held, save_held.
--
-- The end of a lock is `expiry_ms`, Unix milliseconds: the lock lives through that one. `expiry` is the same in whole seconds,
-- rounded up, so that nobody who reads it takes a lock for free too early.
local entries_of = {} -- file path -> its live entries, all branches
local is_stored = {} -- file path -> whether the store had anything under it
local is_changed = {} -- file path -> whether entries_of differs from the store
local lapsed = {} -- entries that had expired
local loaded = 0 -- entries that have been read, or as many as their bytes count for
-- Bytes that count as an entry where entries are large.
local BYTES_OF_ENTRY = 512
-- Most events about different claims in one script; what is more than that is one event without a holder.
local MOST_EVENTS = 512

-- An entry that was written before there was `expiry_ms` ends with its second.
local function has_expired(entry)
  return (entry.expiry_ms or entry.expiry * 1000) < now_ms
end

-- Lets `entry` live for `seconds` from now.
local function extend(entry, seconds)
  entry.timestamp, entry.expiry_ms = now, now_ms + seconds * 1000
  entry.expiry = math.ceil(entry.expiry_ms / 1000)
end

-- Calls `visit(path, value)` with what is stored under each of `paths`, false where that is nothing. Ends early where `visit`
-- gives false.
local function each_value(paths, visit)
  for first = 1, #paths, CHUNK do
    local last = math.min(first + CHUNK - 1, #paths)
    local values = redis.call('HMGET', locks_key, unpack(paths, first, last))
    for offset = 1, last - first + 1 do
      if visit(paths[first + offset - 1], values[offset]) == false then
        return
      end
    end
  end
end

-- Reads what is stored under `path` into entries_of.
local function load_value(path, value)
  local live = {}
  if value then
    is_stored[path] = true
    local entries = cjson.decode(value)
    loaded = loaded + math.max(#entries, math.ceil(#value / BYTES_OF_ENTRY))
    for _, entry in ipairs(entries) do
      if has_expired(entry) then
        lapsed[#lapsed + 1] = entry
        is_changed[path] = true
        count_held(entry, -1)
      else
        live[#live + 1] = entry
      end
    end
  end
  entries_of[path] = live
end

-- Reads the entries of `paths` into entries_of; each path once. Those of the rest are left out, and false given, when more
-- than `most` have been read.
local function load_entries(paths, most)
  local is_all = true
  each_value(paths, function(path, value)
    load_value(path, value)
    is_all = loaded <= most
    return is_all
  end)
  return is_all
end

-- An event about `entry`, with room for more files of the same claim.
local function event_about(kind, entry)
  return {
    type = kind,
    user = entry.user_id,
    user_name = entry.user_name,
    agent_id = entry.agent_id,
    branch = entry.branch,
    status = entry.status,
    message = entry.message,
    token = entry.token,
    expiry = entry.expiry,
    expiry_ms = entry.expiry_ms,
    time_ms = now_ms,
    files = {},
  }
end

-- One event for the entries of one claim: those that share holder, token and message.
local function emit_by_claim(kind, entries)
  local events, order = {}, {}
  for _, entry in ipairs(entries) do
    local claim = entry.user_id .. ' ' .. (entry.agent_id or '') .. ' ' .. entry.branch .. ' ' .. entry.status .. ' '
      .. entry.token .. ' ' .. entry.message
    if not events[claim] and #order >= MOST_EVENTS then
      claim = ''
    end
    if not events[claim] then
      events[claim] = claim == '' and { type = kind, files = {} } or event_about(kind, entry)
      order[#order + 1] = claim
    end
    table.insert(events[claim].files, entry.file_path)
  end
  for _, claim in ipairs(order) do
    local event = events[claim]
    event.file_count, event.files = #event.files, names_of(event.files)
    emit(event)
  end
end

-- Writes back what changed, keeps the expiry index exact, and announces what had expired.
local function save_entries()
  -- First, because a full store refuses this: then nothing has changed.
  save_held()
  local kept, emptied, earliest = {}, {}, {}
  for path in pairs(is_changed) do
    local entries = entries_of[path]
    if #entries == 0 then
      emptied[#emptied + 1] = path
    else
      local first = entries[1].expiry
      for _, entry in ipairs(entries) do
        first = math.min(first, entry.expiry)
      end
      kept[#kept + 1] = path
      kept[#kept + 1] = cjson.encode(entries)
      earliest[#earliest + 1] = first
      earliest[#earliest + 1] = path
    end
  end
  call_in_chunks('HSET', locks_key, kept)
  call_in_chunks('ZADD', expiries_key, earliest)
  call_in_chunks('HDEL', locks_key, emptied)
  call_in_chunks('ZREM', expiries_key, emptied)
  emit_by_claim('lock_expired', lapsed)
end
