-- What a claim changes of intents: a refusal is recorded, a grant makes the intent the owner of the files. Needs: gate, paths,
-- message.
-- @include locks/gate
-- @include locks/refusal
-- @include chunks

-- A refusal, or a holder that begins with an intent, has lines.
local no_share = (gate.is_refused or id and (session.state ~= 'ACTION' or session.intent ~= id)) and full_ledger(3)
if no_share then
  return no_share
end

-- The caller is in another state. `why` is for the ledger.
local function move_holder(state, intent, version, why)
  append_change(id or '', session.state, session.state .. ' to ' .. state .. ': ' .. why, state, gate.origin)
  if session.intent ~= intent then
    session.last = session.intent or session.last
  end
  session.state, session.intent, session.version = state, intent, version
end

-- The sentences of the ledger about a refusal: what it is, and the text that programs look for.
local function sentences(code, kind, intent, files)
  local CITE = 'You must cite a valid active Intent ID.'
  if code == 'INTENT_REQUIRED' then
    return 'No intent is cited', CITE
  elseif code == 'INTENT_NOT_ACTIVE' then
    return 'Intent is ' .. kind, CITE
  elseif code == 'INTENT_BLOCKED' then
    return 'Intent is BLOCKED', CITE
  elseif code == 'SCOPE_VIOLATION' then
    return 'Outside owned_scope, or ignored', "Scope Violation: " .. intent .. " is not authorized to edit '" .. files[1]
      .. "'. Request scope expansion."
  end
  return 'Owned by another intent', 'Governance Violation: File owned by Intent [' .. intent .. ']'
end

-- Records why the claim is refused. The same refusal of the same request has one line in a minute, as it has one event.
gate.refuse = function()
  local code, kind, intent, _, _, files = unpack(gate.findings[1])
  local is_new = emit_refusal('WRITING', message, paths, 'INTENT', #files > 0 and files or nil, code,
    gate.intent)
  if limit and code == limit.code then
    block_at(limit, id, record, gate.origin)
    save_session()
  elseif is_new then
    local is_about_scope = code == 'SCOPE_VIOLATION' or code == 'FILE_OWNED'
    local named = {}
    for index, path in ipairs(names_of(#files > 0 and files or paths) or {}) do
      named[index] = json_text(path)
    end
    local summary, text = sentences(code, kind, intent, files)
    append_line(gate.intent, session.state, is_about_scope and 'SCOPE_VIOLATION' or 'TOOL_EXECUTION',
      '{' .. (gate.call.name ~= '' and '"tool_name":' .. json_text(gate.call.name) .. ',' or '') .. '"target_files":['
        .. table.concat(named, ',') .. ']}',
      '{"status":"DENIED","output_summary":' .. json_text(summary) .. ',"error_message":' .. json_text(text) .. '}',
      gate.origin)
  end
  if gate.is_lost then
    move_holder('REASONING', nil, nil, 'the intent is ' .. (code == 'INTENT_BLOCKED' and 'BLOCKED' or kind))
    save_session()
  end
end

if id and not gate.is_refused then
  local taken, new_paths = {}, 0

  -- Whether the intent owns the file already; and the entry of another intent that it would take it from, or nil.
  local function standing(list)
    local is_owner, before = false, nil
    for _, entry in ipairs(list) do
      if entry.intent == id then
        is_owner = true
      elseif have_common_branch(entry.branch, record.branch) then
        before = before or entry
      end
    end
    return is_owner and not before, before
  end

  -- Nil, or the part without room for more owners: OWNERS, and a file or ''.
  gate.reserve = function()
    for _, path in ipairs(paths) do
      local list = owners[path]
      local is_owner, before = standing(list)
      if not is_owner then
        new_paths = new_paths + (#list == 0 and 1 or 0)
        take_file(list, id, record.branch)
        if not has_room_in(list) then
          return 'OWNERS', path
        end
        -- For a claim that is abandoned: see abandoned.lua.
        local mine = list[#list]
        mine.since, mine.from, mine.from_branch = mine.hash, before and before.intent, before and before.branch
        taken[#taken + 1] = path
        taken[#taken + 1] = cjson.encode(list)
      end
    end
    if new_paths > 0 and not has_room_for(new_paths) then
      return 'OWNERS', ''
    end
  end

  -- The files are the intent's, and the call counts.
  gate.grant = function()
    call_in_chunks('HSET', keys.owners, taken)
    if session.state ~= 'ACTION' or session.intent ~= id then
      move_holder('ACTION', id, record.version, 'a claim cites the intent')
    end
    session.version = record.version
    count_call(id, gate.call)
    save_session()
    warn_of_budget()
  end
end
