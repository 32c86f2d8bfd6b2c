-- A claim's effect on intents: a refusal is recorded, and a grant makes the intent the owner of the files.
local Append = require('ledger/append')
local Budget = require('intents/budget')
local Chunks = require('chunks')
local Emit = require('events/emit')
local Gate = require('intents/gate')
local Owners = require('intents/owners')
local Refusal = require('locks/refusal')
local Session = require('intents/session')
local Status = require('intents/status')

local GateClaim = {}

-- Judges the claim, as judge() of intents/gate does: nil, or the denial.
function GateClaim.judge_claim(call, paths)
  local denial = Gate.judge(call, paths)
  if denial then
    return denial
  end
  call.gate.is_judged = true
  -- A refusal, and a holder's first claim for an intent, append lines.
  local id = call.gate.id
  local has_lines = call.gate.is_refused or (id and (call.session.state ~= 'ACTION' or call.session.intent ~= id))
  return has_lines and Append.full_ledger(call, 3) or nil
end

-- Moves the caller to another state. `why` is for the ledger.
local function move_holder(call, state, intent, version, why)
  Status.append_change(
    call,
    call.gate.intent,
    call.session.state,
    call.session.state .. ' to ' .. state .. ': ' .. why,
    state,
    call.gate.origin
  )
  if call.session.intent ~= intent then
    call.session.last = call.session.intent or call.session.last
  end
  call.session.state, call.session.intent, call.session.version = state, intent, version
end

-- The sentences of the ledger about a refusal: its kind, and the text that programs look for.
local function sentences(code, kind, intent, files)
  local CITE = 'You must cite a valid active Intent ID.'
  if code == 'INTENT_REQUIRED' then
    return 'No intent is cited', CITE
  elseif code == 'INTENT_NOT_ACTIVE' then
    return 'Intent is ' .. kind, CITE
  elseif code == 'INTENT_BLOCKED' then
    return 'Intent is BLOCKED', CITE
  elseif code == 'SCOPE_VIOLATION' then
    return 'Outside owned_scope, or ignored',
      'Scope Violation: ' .. intent .. " is not authorized to edit '" .. files[1] .. "'. Request scope expansion."
  end
  return 'Owned by another intent', 'Governance Violation: File owned by Intent [' .. intent .. ']'
end

-- Records why the claim is refused. The same refusal of the same request has one line a minute, and one event.
function GateClaim.record_refusal(call, paths, message)
  local finding = call.gate.findings[1]
  local code, kind, intent, files = finding.code, finding.kind, finding.intent, finding.files or {}
  local limit, tool = call.gate.limit, call.gate.call and call.gate.call.name or ''
  local is_new = Refusal.emit(call, 'WRITING', message, paths, 'INTENT', #files > 0 and files or nil, code, call.gate.intent)
  if limit and code == limit.code then
    Budget.block_at(call, limit, call.gate.id, call.gate.record, call.gate.origin)
    Session.save(call)
  elseif is_new then
    local is_about_scope = code == 'SCOPE_VIOLATION' or code == 'FILE_OWNED'
    local named = {}
    for index, path in ipairs(Emit.names_of(#files > 0 and files or paths) or {}) do
      named[index] = Append.json_text(path)
    end
    local summary, text = sentences(code, kind, intent, files)
    Append.append_line(
      call,
      call.gate.intent,
      call.session.state,
      is_about_scope and 'SCOPE_VIOLATION' or 'TOOL_EXECUTION',
      '{'
        .. (tool ~= '' and '"tool_name":' .. Append.json_text(tool) .. ',' or '')
        .. '"target_files":['
        .. table.concat(named, ',')
        .. ']}',
      '{"status":"DENIED","output_summary":' .. Append.json_text(summary) .. ',"error_message":' .. Append.json_text(text) .. '}',
      call.gate.origin
    )
  end
  if call.gate.is_lost then
    move_holder(call, 'REASONING', nil, nil, 'the intent is ' .. (code == 'INTENT_BLOCKED' and 'BLOCKED' or kind))
    Session.save(call)
  end
end

-- Whether the intent owns the file already; and the entry of the other intent that it would take it from, or nil.
local function find_owner(call, list)
  local id, record = call.gate.id, call.gate.record
  local is_owner, previous = false, nil
  for _, entry in ipairs(list) do
    if entry.intent == id then
      is_owner = true
    elseif Owners.have_common_branch(entry.branch, record.branch) then
      previous = previous or entry
    end
  end
  return is_owner and not previous, previous
end

-- Nil, or the part without room for more owners: OWNERS, and the file, or nil for the repository.
function GateClaim.reserve_owners(call, paths)
  local id, record, owners, new_paths = call.gate.id, call.gate.record, call.gate.owners, 0
  call.gate.taken = {}
  for _, path in ipairs(paths) do
    local list = owners[path]
    local is_owner, previous = find_owner(call, list)
    if not is_owner then
      new_paths = new_paths + (#list == 0 and 1 or 0)
      Owners.take_file(list, id, record.branch)
      if not Owners.has_room_in(call, list) then
        return 'OWNERS', path
      end
      -- For a claim that is abandoned: see abandoned.lua.
      local owner = list[#list]
      owner.since, owner.from, owner.from_branch = owner.hash, previous and previous.intent, previous and previous.branch
      call.gate.taken[#call.gate.taken + 1] = path
      call.gate.taken[#call.gate.taken + 1] = cjson.encode(list)
    end
  end
  if new_paths > 0 and not Owners.has_room_for(call, new_paths) then
    return 'OWNERS'
  end
end

-- Makes the intent the owner of the files, and counts the call.
function GateClaim.grant(call)
  local id, record = call.gate.id, call.gate.record
  Chunks.call_in_chunks('HSET', call.keys.owners, call.gate.taken)
  if call.session.state ~= 'ACTION' or call.session.intent ~= id then
    move_holder(call, 'ACTION', id, record.version, 'a claim cites the intent')
  end
  call.session.version = record.version
  Budget.count_call(call, id, call.gate.call or { name = '', digest = '' })
  Session.save(call)
  Gate.warn_of_budget(call)
end

return GateClaim
