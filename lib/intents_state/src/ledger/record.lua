-- record: appends a holder's actions to the ledger. A changed file is recorded as a success only under the caller's live lock for
-- writing; then its new content is recorded too.
-- KEYS, ARGV: those of admission/request, with `intent` that is cited, absent for none, `is_reset_by_prompts`: a prompt ends the selection of
-- an intent, and `entries`: each with `kind`: MUTATION, PROMPT, END, or OTHER; `trace`: its id; `action_type`, `payload` and `result`;
-- `origin` (ledger/append); and of a mutation `path`, `hash`, fencing `token`, absent for none, `has_failed`: the caller reports a failure,
-- and `without_lock`, `other_token`: the result if there is no lock, or its token differs
-- Returns { RECORDED, now, answer }: `outcomes`, for each entry SUCCESS, FAILURE, REPEATED, or OTHER for the result that was sent,
--           `has_lines`: a line was appended, `is_unknown_intent`, and `without_room`: number of files without room for their content
--      or TOO_MUCH (Answer.too_much(), LOCKS): the files have too many locks; nothing was recorded
--      or one of the denials of Admission.admit(); nothing was recorded
local Admission = require('admission/admission')
local Answer = require('answer')
local Append = require('ledger/append')
local Entries = require('locks/entries')
local Held = require('locks/held')
local LockChanges = require('locks/changes')
local Owners = require('intents/owners')
local Queue = require('locks/queue')
local Records = require('intents/records')
local Request = require('admission/request')
local Session = require('intents/session')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  local cited, entries = call.request.intent or '', call.request.entries
  Entries.begin(call)
  Held.begin(call)
  Records.begin(call)
  Append.begin(call)

  local denial = Admission.admit(call) or Append.full_ledger(call, #entries)
  if denial then
    return denial
  end

  local paths, is_named = {}, {}
  for _, entry in ipairs(entries) do
    if entry.kind == 'MUTATION' and not is_named[entry.path] then
      is_named[entry.path] = true
      paths[#paths + 1] = entry.path
    end
  end
  if not Entries.load(call, paths, Entries.MAX_AT_ONCE) then
    return Answer.too_much(call, 'LOCKS')
  end
  local owners, was_stored = #paths > 0 and Owners.of(call, paths) or {}, {}
  for path, list in pairs(owners) do
    was_stored[path] = #list > 0
  end
  local is_unknown_intent = cited ~= '' and not Records.of(call, cited)
  if is_unknown_intent then
    cited = ''
  end
  Session.load(call)

  -- Traces are kept for a day: an entry that a holder sends twice is recorded once.
  local TRACES_FOR, MAX_TRACES, DROPPED_AT_ONCE = 86400, 20000, 64
  local new_traces = {}

  local function is_repeated(trace)
    local name = call.request.user_id .. ' ' .. call.request.agent_id .. ' ' .. trace
    local recorded_at = new_traces[name] or redis.call('ZSCORE', call.keys.traces, name)
    if recorded_at and tonumber(recorded_at) > call.now - TRACES_FOR then
      return true
    end
    new_traces[name] = call.now
    return false
  end

  local function save_traces()
    local added = {}
    for name, time in pairs(new_traces) do
      added[#added + 1] = time
      added[#added + 1] = name
    end
    if #added == 0 then
      return
    end
    redis.call('ZADD', call.keys.traces, unpack(added))
    redis.call('EXPIRE', call.keys.traces, TRACES_FOR)
    local old = redis.call('ZRANGEBYSCORE', call.keys.traces, '-inf', call.now - TRACES_FOR, 'LIMIT', 0, DROPPED_AT_ONCE)
    if #old == 0 and redis.call('ZCARD', call.keys.traces) > MAX_TRACES then
      old = redis.call('ZRANGE', call.keys.traces, 0, DROPPED_AT_ONCE - 1)
    end
    if #old > 0 then
      redis.call('ZREM', call.keys.traces, unpack(old))
    end
  end

  local has_new_content = {} -- file path -> true

  -- Records `hash` as the content of `path`, which was changed for `intent`, or for none.
  local function note_content(path, hash, intent)
    local MAX_EARLIER = 16
    local record = intent ~= '' and Records.of(call, intent)
    local branch = call.request.branch
    if record then
      branch = record.branch
    end
    local list, owner_index = owners[path], nil
    for index, owner in ipairs(list) do
      if owner.branch == branch and (owner.intent == intent or not Records.is_active(Records.of(call, owner.intent))) then
        owner_index = index
      end
    end
    local owner = owner_index and table.remove(list, owner_index) or { branch = branch }
    owner.intent = intent
    if owner.hash and owner.hash ~= hash then
      local earlier = { owner.hash }
      for _, before in ipairs(owner.earlier or {}) do
        if before ~= hash and before ~= owner.hash and #earlier < MAX_EARLIER then
          earlier[#earlier + 1] = before
        end
      end
      owner.earlier = earlier
    end
    owner.hash = hash
    -- The content that was recorded last is the last in the list.
    list[#list + 1] = owner
    if not Owners.has_room_in(call, list) then
      table.remove(list, #list - 1)
    end
    has_new_content[path] = true
  end

  -- Writes the contents back; returns the number of files for which there is no room.
  local function save_contents()
    local new_files, values, without_room = 0, {}, 0
    for path in pairs(has_new_content) do
      new_files = new_files + (was_stored[path] and 0 or 1)
    end
    local has_room = new_files == 0 or Owners.has_room_for(call, new_files)
    for path in pairs(has_new_content) do
      if not was_stored[path] and not has_room then
        without_room = without_room + 1
      else
        values[#values + 1] = path
        values[#values + 1] = cjson.encode(owners[path])
      end
    end
    if #values > 0 then
      redis.call('HSET', call.keys.owners, unpack(values))
    end
    return without_room
  end

  -- The caller's live lock for writing.
  local function lock_on(path)
    for _, lock in ipairs(call.entries_of[path]) do
      if lock.branch == call.request.branch and lock.status == 'WRITING' and Request.is_own(call, lock) then
        return lock
      end
    end
  end

  local has_line = {} -- intent -> true where a line was appended

  local function append(entry, intent, action_type, payload, result)
    -- Each entry has a separate trace id.
    call.lines_appended = 0
    Append.append_line(call, intent, call.session.state, action_type, payload, result, entry.origin)
    has_line[intent] = true
  end

  local function record_mutation(entry)
    local lock = lock_on(entry.path)
    local intent = lock and lock.intent_id or (cited ~= '' and cited) or call.session.intent or ''
    local has_token = lock and (not entry.token or lock.token == entry.token)
    local result = not lock and entry.without_lock or not has_token and entry.other_token or entry.result
    append(entry, intent, entry.action_type, entry.payload, result)
    if not has_token or entry.has_failed then
      return 'FAILURE'
    end
    note_content(entry.path, entry.hash, intent)
    return 'SUCCESS'
  end

  -- A prompt or the end of the agent's session: a line only where the state changes.
  local function change_state(entry, state, why)
    local from = call.session.state
    local intent = call.session.intent or ''
    append(entry, intent, entry.action_type, '{"reasoning":"' .. from .. ' -> ' .. state .. ': ' .. why .. '"}', entry.result)
    call.session.state = state
    call.session.last, call.session.intent, call.session.version = call.session.intent or call.session.last, nil, nil
    Session.save(call)
  end

  local function record_entry(entry)
    if is_repeated(entry.trace) then
      return 'REPEATED'
    elseif entry.kind == 'MUTATION' then
      return record_mutation(entry)
    elseif entry.kind == 'PROMPT' then
      if call.session.state == 'REQUEST' or (call.session.state == 'ACTION' and call.request.is_reset_by_prompts) then
        change_state(entry, 'REASONING', 'a prompt')
      end
      return 'SUCCESS'
    elseif entry.kind == 'END' then
      if call.session.state ~= 'REQUEST' then
        change_state(entry, 'REQUEST', 'the session of the agent has ended')
      end
      return 'SUCCESS'
    end
    append(entry, cited ~= '' and cited or call.session.intent or '', entry.action_type, entry.payload, entry.result)
    return 'OTHER'
  end

  local outcomes = {}
  for index, entry in ipairs(entries) do
    outcomes[index] = record_entry(entry)
  end
  save_traces()
  LockChanges.save(call)
  local without_room = save_contents()
  for intent in pairs(has_line) do
    if call.governed and intent ~= '' and Records.is_active(Records.of(call, intent)) then
      Records.save_use(call, intent, Records.use_of(call, intent))
    end
  end
  if call.request.queue then
    local written, has_ended = {}, false
    for index, entry in ipairs(entries) do
      has_ended = has_ended or (entry.kind == 'END' and outcomes[index] ~= 'REPEATED')
      written[#written + 1] = entry.kind == 'MUTATION' and not lock_on(entry.path) and entry.path or nil
    end
    if has_ended then
      Queue.leave_all(call, {})
    elseif #written > 0 then
      Queue.leave_others(call, written)
    end
  end
  return Answer.reply(call, 'RECORDED', {
    outcomes = Answer.some(outcomes),
    has_lines = next(has_line) ~= nil,
    is_unknown_intent = is_unknown_intent,
    without_room = without_room,
  })
end
