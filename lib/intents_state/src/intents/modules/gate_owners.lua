-- Other intents that own files of a claim.
local Owners = require('intents/owners')
local Records = require('intents/records')

local GateOwners = {}

-- The values of `ids` in a hash of intents, in their order.
local function values_of(key, ids)
  return #ids > 0 and redis.call('HMGET', key, unpack(ids)) or {}
end

local function may_overlap(record, id)
  for _, other in ipairs(record and record.may_overlap or {}) do
    if other == id then
      return true
    end
  end
  return false
end

-- Those of `owners` (path -> entries) that are active, have a branch in common with the intent `id` or, without one, with the
-- request, and may not overlap with it: a list of owners that count, and one of idle ones. Each is { id, last_call_ms, files }.
function GateOwners.others_of(call, paths, owners, id, record)
  local branch = record and record.branch
  if not record then
    branch = call.request.branch
  end
  local other_of, others, ids = {}, {}, {}
  for _, path in ipairs(paths) do
    for _, entry in ipairs(owners[path] or {}) do
      if entry.intent ~= id and Owners.have_common_branch(entry.branch, branch) then
        local other = other_of[entry.intent]
        if not other then
          other = { id = entry.intent, files = {} }
          other_of[entry.intent] = other
          others[#others + 1], ids[#ids + 1] = other, entry.intent
        end
        table.insert(other.files, path)
      end
    end
  end
  local active, active_ids = {}, {}
  for index, stored in ipairs(values_of(call.keys.intents, ids)) do
    local other = others[index]
    call.records[other.id] = stored and cjson.decode(stored)
    if Records.is_active(call.records[other.id]) and not may_overlap(record, other.id) and not may_overlap(call.records[other.id], id) then
      active[#active + 1], active_ids[#active_ids + 1] = other, other.id
    end
  end
  local counting, idle = {}, {}
  for index, stored in ipairs(values_of(call.keys.intent_use, active_ids)) do
    local other = active[index]
    other.last_call_ms = tonumber(string.match(stored or '', '(%d+)$') or 0)
    table.insert(call.now_ms - other.last_call_ms <= call.gate.idle_ms and counting or idle, other)
  end
  return counting, idle
end

return GateOwners
