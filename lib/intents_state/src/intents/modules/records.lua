-- The records of intents: the fields that the scripts need, apart from their texts. A record is JSON: `status`, and `reason`, why it was
-- blocked, ended or resumed, absent for none; `reason_by`, the login that gave the reason; `branch`, absent for every branch; `digest` of
-- the scope, '' for none; `version`, which grows with every change that matters to its holders; `by`, login of the first writer, and
-- `begun_by`, the login that began it, absent before; `max_turns`, `max_tokens`, absent for no limit; `may_overlap`, ids of other
-- intents, absent for none; `order`, its number in the order of creation; `bytes` of its text; `owner`, the login that wrote it;
-- `assigned`, the assignee, absent for none; `created_ms`, `updated_ms`, Unix milliseconds.
local Records = {}

function Records.begin(call)
  call.records = {} -- id -> its record, or false
  call.uses = {} -- id -> what is stored of its use, or ''
end

-- The record of the intent `id`, or false.
function Records.of(call, id)
  if call.records[id] == nil then
    local stored = redis.call('HGET', call.keys.intents, id)
    call.records[id] = stored and cjson.decode(stored)
  end
  return call.records[id]
end

-- Writes a changed record, and increments the registry's version.
function Records.save_record(call, id, record)
  call.records[id] = record
  redis.call('HSET', call.keys.intents, id, cjson.encode(record))
  return redis.call('INCR', call.keys.governed)
end

-- Whether the caller may act on the intent: its login wrote or began it, or it is assigned to the caller. Anyone may before the intent has
-- begun, or if it is from before owners were recorded.
function Records.belongs_to_caller(call, record)
  if record.status == 'PENDING' or (record.owner or '') == '' then
    return true
  end
  local user, agent = call.request.user_id, call.request.user_id .. '/' .. call.request.agent_id
  return record.owner == user or record.begun_by == user or record.assigned == user or record.assigned == agent
end

function Records.is_active(record)
  return record and (record.status == 'IN_PROGRESS' or record.status == 'BLOCKED')
end

-- The cost of `id`: turns, tokens, and turns of other logins. The stored text ends with the time of a holder's last call, Unix
-- milliseconds.
function Records.use_of(call, id)
  call.uses[id] = call.uses[id] or redis.call('HGET', call.keys.intent_use, id) or ''
  local turns, tokens, other_turns = string.match(call.uses[id], '^(%d+) (%d+) (.-)%d+$')
  return tonumber(turns or 0), tonumber(tokens or 0), tonumber(other_turns or 0) or 0
end

-- The turns that count for the caller. Agents of other logins have a separate allowance of the same size, so that they cannot
-- use up the owner's.
function Records.turns_of_caller(call, id, record)
  local turns, _, other_turns = Records.use_of(call, id)
  return Records.belongs_to_caller(call, record) and turns or other_turns
end

-- Stores the cost of the work so far, and the current time as that of a holder's last call.
function Records.save_use(call, id, turns, tokens, other_turns)
  local others = other_turns > 0 and string.format('%.0f ', other_turns) or ''
  call.uses[id] = string.format('%.0f %.0f %s%.0f', turns, tokens, others, call.now_ms)
  redis.call('HSET', call.keys.intent_use, id, call.uses[id])
end

return Records
