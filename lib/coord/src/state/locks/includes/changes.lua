-- Lock entries: written back once, and announced. Needs: keys.locks, keys.expiries.
-- @include locks/entries
-- @include locks/held
-- @include events/emit

-- An event about `entry`, with room for more files of the same claim.
local function event_about(kind, entry)
  return {
    type = kind,
    user = entry.user_id,
    user_name = entry.user_name,
    agent_id = entry.agent_id,
    intent_id = entry.intent_id,
    forced_by = entry.forced_by,
    branch = entry.branch,
    work_branch = entry.work_branch,
    status = entry.status,
    message = entry.message,
    token = entry.token,
    expiry = entry.expiry,
    expiry_ms = entry.expiry_ms,
    time_ms = now_ms,
    files = {},
  }
end

-- One event for the entries of one claim: those with the same holder, branches, status, token, intent and message.
local function emit_by_claim(kind, entries)
  -- Maximum events about different claims in one script; the rest is one event without a holder.
  local MOST_EVENTS = 512
  local events, order = {}, {}
  for _, entry in ipairs(entries) do
    local claim = entry.user_id .. ' ' .. (entry.agent_id or '') .. ' ' .. entry.branch .. ' ' .. entry.status .. ' '
      .. entry.token .. ' ' .. (entry.intent_id or '') .. ' ' .. (entry.work_branch or '') .. ' ' .. entry.message
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

-- Lua 5.1 hashes long texts by their length and one character in 32: a script that reads thousands of texts with few
-- different digits would spend its time comparing them. So blanks at the end, which mean nothing in JSON, give them
-- different lengths.
local LENGTHS = 64

local announced = 0 -- how many of `expired` are

-- Writes the changes back, keeps the expiry index exact, and announces the expired locks.
local function save_entries()
  -- First, because a full store rejects this before anything has changed.
  save_held()
  if next(is_changed) == nil then
    return
  end
  local kept, emptied, earliest = {}, {}, {}
  for path in pairs(is_changed) do
    local entries = entries_of[path]
    if #entries == 0 then
      emptied[#emptied + 1] = path
    else
      local first, texts = math.huge, {}
      for index, entry in ipairs(entries) do
        first = math.min(first, math.ceil((entry.expiry_ms or entry.expiry * 1000) / 1000))
        texts[index] = to_json(entry)
      end
      kept[#kept + 1] = path
      -- As cjson has a list.
      kept[#kept + 1] = '[' .. table.concat(texts, ',') .. ']' .. string.rep(' ', entries[1].token % LENGTHS)
      earliest[#earliest + 1] = first
      earliest[#earliest + 1] = path
    end
  end
  call_in_chunks('HSET', keys.locks, kept)
  call_in_chunks('ZADD', keys.expiries, earliest)
  call_in_chunks('HDEL', keys.locks, emptied)
  call_in_chunks('ZREM', keys.expiries, emptied)
  is_changed = {}
  emit_by_claim('lock_expired', part_of(expired, announced + 1))
  announced = #expired
end
