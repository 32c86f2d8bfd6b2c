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

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  local request = call.request
  local id = request.id
  Records.begin(call)
  Append.begin(call)

  -- Drops the oldest of the intents that ended more than a day ago: no holder and no lock refers to them any more. The ledger keeps
  -- their lines, and the recorded content of their files stays.
  local function drop_ended()
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
    if #dropped == 0 then
      return
    end
    for _, key in ipairs({ call.keys.intents, call.keys.intent_texts, call.keys.intent_use }) do
      redis.call('HDEL', key, unpack(dropped))
    end
    -- Remaining references would point to a later intent with the same id.
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

  -- As `MAX_INTENTS` in `lib/intents/src/intent.rs`.
  local MAX_INTENTS, MAX_PER_LOGIN = 1000, 250

  -- The subject that has no room for one more, REPOSITORY or LOGIN, or nil.
  local function full_subject()
    if redis.call('HLEN', call.keys.intents) >= MAX_INTENTS then
      return 'REPOSITORY'
    end
    local stored, count = redis.call('HGETALL', call.keys.intents), 0
    for index = 2, #stored, 2 do
      count = count + (cjson.decode(stored[index]).by == request.user_id and 1 or 0)
    end
    return count >= MAX_PER_LOGIN and 'LOGIN' or nil
  end

  local denial = Admission.admit(call) or Append.full_ledger(call, 1)
  if denial then
    return denial
  end
  local record, is_new = Records.of(call, id), request.seen == nil
  if is_new and record then
    return { 'EXISTS', call.now }
  elseif not is_new and not record then
    return { 'UNKNOWN', call.now }
  elseif not is_new and request.seen ~= call.governed then
    return { 'CHANGED', call.now }
  elseif not is_new and not request.is_person and not Records.is_callers(call, record) then
    return { 'PERSON', call.now }
  end
  if is_new then
    local whose = full_subject()
    if whose then
      drop_ended()
      whose = full_subject()
    end
    if whose then
      return Answer.reply(call, 'TOO_MANY', { whose = whose })
    end
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
