-- The gate: what intents say of writing `paths`, in the order of refusals: the intent, its scope, owners, budget, breaker. It is
-- joined inside of a block, so that nothing of it is there in a repository without intents. Changes nothing. Needs: request,
-- gate, paths.
-- @include intents/budget
-- @include locks/gate_owners

-- `by`: the login that wrote `kind`, for INTENT_BLOCKED.
local function find(code, kind, intent, used, allowed, files, by)
  gate.findings[#gate.findings + 1] = { code, kind or '', intent or '', used or 0, allowed or 0, files or {}, by or '' }
end

load_session()
local selected = session.state == 'ACTION' and session.intent or nil
local id = gate.cited ~= '' and gate.cited or selected
local record = id and record_of(id)
gate.intent = id or ''
if not id then
  if gate.policy == 'required' then
    find('INTENT_REQUIRED', session.state)
  end
elseif record and record.status == 'BLOCKED' then
  find('INTENT_BLOCKED', record.reason, id, 0, 0, {}, record.reason_by)
elseif not record or record.status ~= 'IN_PROGRESS' then
  find('INTENT_NOT_ACTIVE', record and record.status or 'UNKNOWN', id)
elseif id == selected and session.version ~= record.version then
  find('INTENT_NOT_ACTIVE', 'CHANGED', id)
end
-- What ended, was blocked or was changed under its holder is selected no longer.
gate.is_lost = id ~= nil and id == selected and #gate.findings > 0
if record and record.branch and record.branch ~= request.branch and #gate.findings == 0 then
  find('INTENT_NOT_ACTIVE', 'BRANCH', id)
end

if is_active(record) then
  local ignore, judged = load_graph()[3] or '', gate.judged
  local is_same_scope = judged.intent == id and judged.scope == record.digest
  if not is_same_scope or judged.ignore ~= ignore then
    -- Rust matches patterns; it asks again with the judgement.
    return {
      'ASK_SCOPE', now, id, record.digest, is_same_scope and '' or redis.call('HGET', keys.intent_texts, id) or '',
      ignore, judged.ignore ~= ignore and redis.call('HGET', keys.graph, 'ignore') or '', gate.files,
    }
  end
  local outside = {}
  for index, path in ipairs(paths) do
    if string.sub(gate.judgement, index, index) ~= 'C' then
      outside[#outside + 1] = path
    end
  end
  if #outside > 0 then
    find('SCOPE_VIOLATION', '', id, 0, 0, outside)
  end
end

local owners = governed and owners_of(paths) or {}
local owned, idle = others_of(owners, id, record)
for _, other in ipairs(owned) do
  find('FILE_OWNED', '', other.id, 0, 0, other.files)
end

local limit
if record and record.status == 'IN_PROGRESS' then
  -- A claim that is for no tool call counts no turn, and is let in only while there is one left.
  local is_call = gate.call.digest ~= ''
  limit = limit_met(id, record, is_call and gate.call or { name = '', digest = 'none' }, gate.most_repeats)
  if limit then
    find(limit.code, limit.reason, id)
  end
end

gate.is_refused = #gate.findings > 0
for _, other in ipairs(idle) do
  find('OWNER_IDLE', '', other.id, math.floor((now_ms - other.heard) / 1000), 0, other.files)
end

-- Warns from 80 % of a limit on.
local function warn_of_budget()
  local _, tokens = use_of(id)
  local turns = turns_of_caller(id, record)
  local function warn(kind, used, allowed)
    if allowed and used >= allowed * 0.8 then
      find('BUDGET_LOW', kind, id, used, allowed)
    end
  end
  warn('TURNS', turns, record.max_turns)
  warn('TOKENS', tokens, record.max_tokens)
end
