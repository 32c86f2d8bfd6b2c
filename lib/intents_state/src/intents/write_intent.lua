-- write_intent: writes a new intent, or changes one.
-- KEYS, ARGV: those of admission/request, with `id`, `seen`: version of the registry on which the change is based, absent for a new
-- intent, `text`: the intent as JSON, `change`: the change, `origin` of the line, `is_for_holders`: it matters to its holders,
-- `is_person`: a person asks; and of its record `intent_branch`, `digest` of its scope or '', `max_turns`, `max_tokens`, `owner`, and
-- `assigned` (intents/records)
-- Returns { outcome, now, answer }: WRITTEN with the `state` of the caller
--      or TOO_MANY with `whose`, REPOSITORY or LOGIN: there are too many, or too many by the caller's login, and none has ended more than a
--           day ago
--      or { EXISTS, now }: a new intent has the id of an existing one
--      or { UNKNOWN, now }: there is no such intent to change
--      or { CHANGED, now }: the registry has another version
--      or { PERSON, now }: it has begun, and belongs to another login
--      or one of the denials of Admission.admit(); in all these cases nothing is changed
local Admission = require('admission/admission')
local Answer = require('answer')
local Append = require('ledger/append')
local Chunks = require('chunks')
local Owners = require('intents/owners')
local Records = require('intents/records')
local Session = require('intents/session')
local Status = require('intents/status')

-- Reads all records. Returns the ids of the oldest intents that ended more than a day ago, and a set of them: id -> true.
local function find_ended(call)
  local DAY_MS, AT_ONCE = 86400000, 100
  local stored, ended = redis.call('HGETALL', call.keys.intents), {}
  for index = 1, #stored, 2 do
    local other = cjson.decode(stored[index + 1])
    call.records[stored[index]] = other
    if (other.status == 'COMPLETED' or other.status == 'ABANDONED') and other.updated_ms < call.now_ms - DAY_MS then
      ended[#ended + 1] = { id = stored[index], order = other.order }
    end
  end
  table.sort(ended, function(left, right)
    return left.order < right.order
  end)
  local dropped, is_dropped = {}, {}
  for index = 1, math.min(AT_ONCE, #ended) do
    dropped[index], is_dropped[ended[index].id] = ended[index].id, true
  end
  return dropped, is_dropped
end

-- Removes dropped intents from the records, and from those that other intents may overlap.
local function forget_in_records(call, is_dropped)
  for other, other_record in pairs(call.records) do
    local kept = {}
    for _, allowed in ipairs(other_record and other_record.may_overlap or {}) do
      if not is_dropped[allowed] then
        kept[#kept + 1] = allowed
      end
    end
    if other_record and not is_dropped[other] and #kept < #(other_record.may_overlap or {}) then
      other_record.may_overlap = #kept > 0 and kept or nil
      Records.save_record(call, other, other_record)
    end
    if is_dropped[other] then
      call.records[other] = nil
    end
  end
end

-- Removes dropped intents from the owners of files. The recorded content stays.
local function forget_in_owners(call, is_dropped)
  local owned, changed = redis.call('HGETALL', call.keys.owners), {}
  for index = 1, #owned, 2 do
    if Owners.may_name(owned[index + 1], is_dropped) then
      local entries = cjson.decode(owned[index + 1])
      for _, entry in ipairs(entries) do
        if is_dropped[entry.intent] then
          entry.intent = ''
        end
        if is_dropped[entry.from] then
          entry.from, entry.from_branch = nil, nil
        end
      end
      changed[#changed + 1] = owned[index]
      changed[#changed + 1] = cjson.encode(entries)
    end
  end
  Chunks.call_in_chunks('HSET', call.keys.owners, changed)
end

-- Drops the oldest of the intents that ended more than a day ago: no holder and no lock refers to them any more. The ledger keeps their
-- lines.
local function drop_ended(call)
  local dropped, is_dropped = find_ended(call)
  if #dropped == 0 then
    return
  end
  for _, key in ipairs({ call.keys.intents, call.keys.intent_texts, call.keys.intent_use }) do
    redis.call('HDEL', key, unpack(dropped))
  end
  -- Remaining references would point to a later intent with the same id.
  forget_in_records(call, is_dropped)
  forget_in_owners(call, is_dropped)
end

-- The subject that has no room for one more, REPOSITORY or LOGIN, or nil.
local function full_subject(call)
  -- As `MAX_INTENTS` in `lib/intents/src/intent.rs`.
  local MAX_INTENTS, MAX_PER_LOGIN = 1000, 250
  if redis.call('HLEN', call.keys.intents) >= MAX_INTENTS then
    return 'REPOSITORY'
  end
  local stored, count = redis.call('HGETALL', call.keys.intents), 0
  for index = 2, #stored, 2 do
    count = count + (cjson.decode(stored[index]).by == call.request.user_id and 1 or 0)
  end
  return count >= MAX_PER_LOGIN and 'LOGIN' or nil
end

-- The reply if the intent may not be written, or nil. `record`: the existing one, or false.
local function refuse_write(call, record)
  local request = call.request
  if request.seen == nil then
    return record and { 'EXISTS', call.now } or nil
  elseif not record then
    return { 'UNKNOWN', call.now }
  elseif request.seen ~= call.governed then
    return { 'CHANGED', call.now }
  elseif not request.is_person and not Records.belongs_to_caller(call, record) then
    return { 'PERSON', call.now }
  end
end

-- Makes room for a new intent: nil, or the reply TOO_MANY.
local function make_room(call)
  local whose = full_subject(call)
  if whose then
    drop_ended(call)
    whose = full_subject(call)
  end
  return whose and Answer.reply(call, 'TOO_MANY', { whose = whose })
end

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  local request = call.request
  local id, is_new = request.id, request.seen == nil
  Records.begin(call)
  Append.begin(call)

  local denial = Admission.admit(call) or Append.full_ledger(call, 1)
  if denial then
    return denial
  end
  local record = Records.of(call, id)
  local refusal = refuse_write(call, record) or is_new and make_room(call)
  if refusal then
    return refusal
  end
  if is_new then
    -- Each write increments the registry's version.
    record =
      { status = 'PENDING', by = call.request.user_id, version = 0, order = tonumber(call.governed or 0) + 1, created_ms = call.now_ms }
  end
  record.branch, record.digest = request.intent_branch, request.digest
  record.max_turns, record.max_tokens = request.max_turns, request.max_tokens
  record.version = record.version + ((is_new or request.is_for_holders) and 1 or 0)
  record.bytes, record.updated_ms = #request.text, call.now_ms
  record.owner, record.assigned = request.owner, request.assigned
  Records.save_record(call, id, record)
  redis.call('HSET', call.keys.intent_texts, id, request.text)
  Session.load(call)
  Status.append_change(call, id, call.session.state, request.change, record.status, request.origin)
  Status.emit_about(call, 'intent_changed', id, { status = record.status })
  return Answer.reply(call, 'WRITTEN', { state = call.session.state })
end
