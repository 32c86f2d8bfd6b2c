-- The records of intents: what the scripts need of them, apart from their texts. Needs: keys.intents, keys.intent_use,
-- keys.governed.
-- A record is JSON: `status`, and `reason`, why it was blocked, ended or let go on, absent for none; `reason_by`, the
-- login that said so; `branch`, absent for every
-- branch; `digest` of the scope, '' for none; `version`, which grows with every change that its holders have to know;
-- `by`, login of who wrote it, and `begun_by`, of who began it;
-- `max_turns`, `max_tokens`, absent for no limit; `may_overlap`, ids of other intents, absent for none; `order`, its number in
-- the order of creation; `bytes` of its text; `owner`, the login that wrote it; `begun_by`, the login that began it, absent before;
-- `assigned`, whom it is assigned to, absent for nobody; `created_ms`, `updated_ms`, Unix milliseconds.
-- @include clock

local records = {} -- id -> its record, or false
local uses = {} -- id -> what is stored of its use, or ''

-- The record of the intent `id`, or false.
local function record_of(id)
  if records[id] == nil then
    local stored = redis.call('HGET', keys.intents, id)
    records[id] = stored and cjson.decode(stored)
  end
  return records[id]
end

-- Writes a changed record, and counts the registry's version up.
local function save_record(id, record)
  records[id] = record
  redis.call('HSET', keys.intents, id, cjson.encode(record))
  return redis.call('INCR', keys.governed)
end

-- Whether an intent that has begun is the caller's: written, begun or assigned to its login; and no matter whose it is, before it has
-- begun. An intent of before the owner was recorded is everybody's.
local function is_callers(record)
  if record.status == 'PENDING' or (record.owner or '') == '' then
    return true
  end
  local user, agent = request.user_id, request.user_id .. '/' .. request.agent_id
  return record.owner == user or record.begun_by == user or record.assigned == user or record.assigned == agent
end

local function is_active(record)
  return record and (record.status == 'IN_PROGRESS' or record.status == 'BLOCKED')
end

-- The cost of `id`: turns, tokens, and turns of logins whose intent it is not. Last is when a holder was heard of, Unix milliseconds.
local function use_of(id)
  uses[id] = uses[id] or redis.call('HGET', keys.intent_use, id) or ''
  local turns, tokens, others = string.match(uses[id], '^(%d+) (%d+) (.-)%d+$')
  return tonumber(turns or 0), tonumber(tokens or 0), tonumber(others or 0) or 0
end

-- The turns that count for the caller. Agents of other logins have as many of their own, so that they cannot use up the owner's.
local function turns_of_caller(id, record)
  local turns, _, others = use_of(id)
  return is_callers(record) and turns or others
end

-- Notes that a holder was heard of, and the cost of the work so far.
local function save_use(id, turns, tokens, others)
  others = others > 0 and string.format('%.0f ', others) or ''
  uses[id] = string.format('%.0f %.0f %s%.0f', turns, tokens, others, now_ms)
  redis.call('HSET', keys.intent_use, id, uses[id])
end
