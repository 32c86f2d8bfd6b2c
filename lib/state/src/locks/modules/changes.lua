-- Lock entries: written back once, and announced.
local Chunks = require('chunks')
local Emit = require('events/emit')
local Entries = require('locks/entries')
local Held = require('locks/held')

local LockChanges = {}

-- An event about `entry`, with room for more files of the same claim.
function LockChanges.event_about(call, kind, entry)
  return {
    type = kind,
    user = entry.user_id,
    user_name = entry.user_name,
    agent_id = entry.agent_id,
    intent_id = entry.intent_id,
    forced_by = entry.forced_by,
    is_pushed = entry.is_pushed,
    branch = entry.branch,
    work_branch = entry.work_branch,
    status = entry.status,
    message = entry.message,
    token = entry.token,
    expiry = entry.expiry,
    expiry_ms = entry.expiry_ms,
    time_ms = call.now_ms,
    files = {},
  }
end

-- One event for the entries of one claim: those with the same holder, branches, status, token, intent,
-- proof of a push and message.
function LockChanges.emit_by_claim(call, kind, entries)
  -- Maximum events about different claims in one script; one event without a holder covers the rest.
  local MAX_EVENTS = 512
  local events, order = {}, {}
  for _, entry in ipairs(entries) do
    local claim = entry.user_id
      .. ' '
      .. (entry.agent_id or '')
      .. ' '
      .. entry.branch
      .. ' '
      .. entry.status
      .. ' '
      .. entry.token
      .. ' '
      .. (entry.intent_id or '')
      .. ' '
      .. (entry.work_branch or '')
      .. ' '
      .. tostring(entry.is_pushed)
      .. ' '
      .. entry.message
    if not events[claim] and #order >= MAX_EVENTS then
      claim = ''
    end
    if not events[claim] then
      events[claim] = claim == '' and { type = kind, files = {} } or LockChanges.event_about(call, kind, entry)
      order[#order + 1] = claim
    end
    table.insert(events[claim].files, entry.file_path)
  end
  for _, claim in ipairs(order) do
    local event = events[claim]
    event.file_count, event.files = #event.files, Emit.names_of(event.files)
    Emit.event(call, event)
  end
end

-- Lua 5.1 hashes a long text by its length and a sample of its characters. A script that reads thousands of similar texts would spend its
-- time comparing them. So trailing blanks, which mean nothing in JSON, give the texts different lengths.
local LENGTHS = 64

-- Writes the changes back, keeps the expiry index exact, and announces the expired locks.
function LockChanges.save(call)
  -- First, because a full store rejects this before anything has changed.
  Held.save(call)
  if next(call.is_changed) == nil then
    return
  end
  local values, emptied, expiries = {}, {}, {}
  for path in pairs(call.is_changed) do
    local entries = call.entries_of[path]
    if #entries == 0 then
      emptied[#emptied + 1] = path
    else
      local earliest, texts = math.huge, {}
      for index, entry in ipairs(entries) do
        earliest = math.min(earliest, math.ceil((entry.expiry_ms or entry.expiry * 1000) / 1000))
        texts[index] = Entries.to_json(call, entry)
      end
      values[#values + 1] = path
      -- The form in which cjson encodes a list.
      values[#values + 1] = '[' .. table.concat(texts, ',') .. ']' .. string.rep(' ', entries[1].token % LENGTHS)
      expiries[#expiries + 1] = earliest
      expiries[#expiries + 1] = path
    end
  end
  Chunks.call_in_chunks('HSET', call.keys.locks, values)
  Chunks.call_in_chunks('ZADD', call.keys.expiries, expiries)
  Chunks.call_in_chunks('HDEL', call.keys.locks, emptied)
  Chunks.call_in_chunks('ZREM', call.keys.expiries, emptied)
  call.is_changed = {}
  LockChanges.emit_by_claim(call, 'lock_expired', Chunks.slice(call.expired, (call.announced or 0) + 1))
  call.announced = #call.expired -- how many of `expired` are announced
end

return LockChanges
