-- The gate: the rules of intents for writing files, in the order of refusals: the intent, its scope, owners, budget, breaker.
-- Requests for a repository without intents do not get here.
local Answer = require('answer')
local Append = require('ledger/append')
local Budget = require('intents/budget')
local GateOwners = require('intents/gate_owners')
local GraphAge = require('builds/graph_age')
local Owners = require('intents/owners')
local Records = require('intents/records')
local Session = require('intents/session')

local Gate = {}

-- `by`: the login that wrote `kind`, for INTENT_BLOCKED.
local function note_finding(call, code, kind, intent, used, allowed, files, by)
  table.insert(call.gate.findings, {
    code = code,
    kind = kind or '',
    intent = intent or '',
    used = used,
    allowed = allowed,
    files = files and #files > 0 and files or nil,
    by = by,
  })
end

-- Whether the cited intent exists. Reading needs no intent, but may cite one.
function Gate.is_citation_valid(call)
  return redis.call('HEXISTS', call.keys.intents, call.gate.cited) == 1
end

-- Judges a claim of `paths`: nil, with the findings in `gate`, or the denial ASK_SCOPE: the `intent`, the digest `scope` of its scope and its
-- `text`, absent if that digest was sent; the digest `ignore` of .intentignore, absent for none, and `ignore_text`, absent if that digest was
-- sent; `files`, absent if the request names them. Changes nothing.
function Gate.judge(call, paths)
  Records.begin(call)
  Append.begin(call)
  Session.load(call)
  local selected = call.session.state == 'ACTION' and call.session.intent or nil
  local id = call.gate.cited ~= '' and call.gate.cited or selected
  local record = id and Records.of(call, id)
  call.gate.id, call.gate.record = id, record
  call.gate.intent = id or ''
  if not id then
    if call.gate.is_required then
      note_finding(call, 'INTENT_REQUIRED', call.session.state)
    end
  elseif record and record.status == 'BLOCKED' then
    note_finding(call, 'INTENT_BLOCKED', record.reason, id, 0, 0, {}, record.reason_by)
  elseif not record or record.status ~= 'IN_PROGRESS' then
    note_finding(call, 'INTENT_NOT_ACTIVE', record and record.status or 'UNKNOWN', id)
  elseif id == selected and call.session.version ~= record.version then
    note_finding(call, 'INTENT_NOT_ACTIVE', 'CHANGED', id)
  end
  -- An intent that ended, was blocked or was changed under its holder is no longer selected.
  call.gate.is_lost = id ~= nil and id == selected and #call.gate.findings > 0
  if record and record.branch and record.branch ~= call.request.branch and #call.gate.findings == 0 then
    note_finding(call, 'INTENT_NOT_ACTIVE', 'BRANCH', id)
  end

  if Records.is_active(record) then
    local ignore, judged = GraphAge.load(call)[3] or '', call.gate.judged
    local is_same_scope = judged.intent == id and judged.scope == record.digest
    if not is_same_scope or (judged.ignore or '') ~= ignore then
      -- Rust matches the patterns, and repeats the call with its judgment.
      return Answer.reply(call, 'ASK_SCOPE', {
        intent = id,
        scope = record.digest,
        text = not is_same_scope and redis.call('HGET', call.keys.intent_texts, id) or nil,
        ignore = ignore ~= '' and ignore or nil,
        ignore_text = (judged.ignore or '') ~= ignore and redis.call('HGET', call.keys.graph, 'ignore') or nil,
        files = Answer.some(call.gate.files),
      })
    end
    local outside = {}
    for index, path in ipairs(paths) do
      if string.sub(judged.letters or '', index, index) ~= 'C' then
        outside[#outside + 1] = path
      end
    end
    if #outside > 0 then
      note_finding(call, 'SCOPE_VIOLATION', '', id, 0, 0, outside)
    end
  end

  local owners = call.governed and Owners.of(call, paths) or {}
  call.gate.owners = owners
  local owned, idle = GateOwners.others_of(call, paths, owners, id, record)
  for _, other in ipairs(owned) do
    note_finding(call, 'FILE_OWNED', '', other.id, 0, 0, other.files)
  end

  if record and record.status == 'IN_PROGRESS' then
    -- A claim without a tool call uses no turn, but one must be left.
    local tool_call = call.gate.call or { name = '', digest = 'none' }
    call.gate.limit = Budget.limit_met(call, id, record, tool_call, call.gate.most_repeats)
    if call.gate.limit then
      note_finding(call, call.gate.limit.code, call.gate.limit.reason, id)
    end
  end

  call.gate.is_refused = #call.gate.findings > 0
  for _, other in ipairs(idle) do
    note_finding(call, 'OWNER_IDLE', '', other.id, math.floor((call.now_ms - other.last_call_ms) / 1000), 0, other.files)
  end
end

-- Warns from 80 % of a limit on.
function Gate.warn_of_budget(call)
  local id, record = call.gate.id, call.gate.record
  local _, tokens = Records.use_of(call, id)
  local turns = Records.turns_of_caller(call, id, record)
  local function warn(kind, used, allowed)
    if allowed and used >= allowed * 0.8 then
      note_finding(call, 'BUDGET_LOW', kind, id, used, allowed)
    end
  end
  warn('TURNS', turns, record.max_turns)
  warn('TOKENS', tokens, record.max_tokens)
end

return Gate
