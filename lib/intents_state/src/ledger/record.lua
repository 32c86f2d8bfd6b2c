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

-- The files that the entries change, each once.
local function paths_in(entries)
  local paths, is_named = {}, {}
  for _, entry in ipairs(entries) do
    if entry.kind == 'MUTATION' and not is_named[entry.path] then
      is_named[entry.path] = true
      paths[#paths + 1] = entry.path
    end
  end
  return paths
end

-- The state of a run. `cited`: the intent of the request, '' for none; `traces`: name -> time of new ones; `owners`: path -> list;
-- `was_stored`: path -> true if the store had a list; `has_new_content`: path -> true; `has_line`: intent -> true if a line was appended.
local function begin_run(call, cited, paths)
  local run = { cited = cited, traces = {}, owners = #paths > 0 and Owners.of(call, paths) or {} }
  run.was_stored, run.has_new_content, run.has_line = {}, {}, {}
  for path, list in pairs(run.owners) do
    run.was_stored[path] = #list > 0
  end
  return run
end

-- Traces are kept for a day: an entry that a holder sends twice is recorded once.
local TRACES_FOR = 86400

local function is_repeated(call, run, trace)
  local name = call.request.user_id .. ' ' .. call.request.agent_id .. ' ' .. trace
  local recorded_at = run.traces[name] or redis.call('ZSCORE', call.keys.traces, name)
  if recorded_at and tonumber(recorded_at) > call.now - TRACES_FOR then
    return true
  end
  run.traces[name] = call.now
  return false
end

local function save_traces(call, traces)
  local MAX_TRACES, DROPPED_AT_ONCE = 20000, 64
  local added = {}
  for name, time in pairs(traces) do
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

-- Removes the owner whose content the intent changes from `list`, the owners of a file, and returns it: on the same branch, the intent
-- itself or an inactive one. Returns a new owner if there is none.
local function take_owner(call, list, intent)
  local record = intent ~= '' and Records.of(call, intent)
  local branch = call.request.branch
  if record then
    branch = record.branch
  end
  local owner_index
  for index, owner in ipairs(list) do
    if owner.branch == branch and (owner.intent == intent or not Records.is_active(Records.of(call, owner.intent))) then
      owner_index = index
    end
  end
  return owner_index and table.remove(list, owner_index) or { branch = branch }
end

-- Records `hash` as the content of `path`, which was changed for `intent`, or for none.
local function note_content(call, run, path, hash, intent)
  local MAX_EARLIER = 16
  local list = run.owners[path]
  local owner = take_owner(call, list, intent)
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
  run.has_new_content[path] = true
end

-- Writes the contents back; returns the number of files for which there is no room.
local function save_contents(call, run)
  local new_files, values, without_room = 0, {}, 0
  for path in pairs(run.has_new_content) do
    new_files = new_files + (run.was_stored[path] and 0 or 1)
  end
  local has_room = new_files == 0 or Owners.has_room_for(call, new_files)
  for path in pairs(run.has_new_content) do
    if not run.was_stored[path] and not has_room then
      without_room = without_room + 1
    else
      values[#values + 1] = path
      values[#values + 1] = cjson.encode(run.owners[path])
    end
  end
  if #values > 0 then
    redis.call('HSET', call.keys.owners, unpack(values))
  end
  return without_room
end

-- The caller's live lock for writing.
local function lock_on(call, path)
  for _, lock in ipairs(call.entries_of[path]) do
    if lock.branch == call.request.branch and lock.status == 'WRITING' and Request.is_own(call, lock) then
      return lock
    end
  end
end

local function append(call, run, entry, intent, payload, result)
  -- Each entry has a separate trace id.
  call.lines_appended = 0
  Append.append_line(call, intent, call.session.state, entry.action_type, payload, result, entry.origin)
  run.has_line[intent] = true
end

local function record_mutation(call, run, entry)
  local lock = lock_on(call, entry.path)
  local intent = lock and lock.intent_id or (run.cited ~= '' and run.cited) or call.session.intent or ''
  local has_token = lock and (not entry.token or lock.token == entry.token)
  local result = not lock and entry.without_lock or not has_token and entry.other_token or entry.result
  append(call, run, entry, intent, entry.payload, result)
  if not has_token or entry.has_failed then
    return 'FAILURE'
  end
  note_content(call, run, entry.path, entry.hash, intent)
  return 'SUCCESS'
end

-- A prompt or the end of the agent's session: a line only where the state changes.
local function change_state(call, run, entry, state, why)
  local from = call.session.state
  local intent = call.session.intent or ''
  append(call, run, entry, intent, '{"reasoning":"' .. from .. ' -> ' .. state .. ': ' .. why .. '"}', entry.result)
  call.session.state = state
  call.session.last, call.session.intent, call.session.version = call.session.intent or call.session.last, nil, nil
  Session.save(call)
end

-- Returns the outcome of the entry.
local function record_entry(call, run, entry)
  local state = call.session.state
  if is_repeated(call, run, entry.trace) then
    return 'REPEATED'
  elseif entry.kind == 'MUTATION' then
    return record_mutation(call, run, entry)
  elseif entry.kind == 'PROMPT' then
    if state == 'REQUEST' or (state == 'ACTION' and call.request.is_reset_by_prompts) then
      change_state(call, run, entry, 'REASONING', 'a prompt')
    end
    return 'SUCCESS'
  elseif entry.kind == 'END' then
    if state ~= 'REQUEST' then
      change_state(call, run, entry, 'REQUEST', 'the session of the agent has ended')
    end
    return 'SUCCESS'
  end
  append(call, run, entry, run.cited ~= '' and run.cited or call.session.intent or '', entry.payload, entry.result)
  return 'OTHER'
end

-- Stores the current time as that of the last call of each active intent that has a new line.
local function save_uses(call, has_line)
  for intent in pairs(has_line) do
    if call.governed and intent ~= '' and Records.is_active(Records.of(call, intent)) then
      Records.save_use(call, intent, Records.use_of(call, intent))
    end
  end
end

-- An agent that has ended, or writes files without a lock, no longer waits.
local function leave_queue(call, entries, outcomes)
  local written, has_ended = {}, false
  for index, entry in ipairs(entries) do
    has_ended = has_ended or (entry.kind == 'END' and outcomes[index] ~= 'REPEATED')
    written[#written + 1] = entry.kind == 'MUTATION' and not lock_on(call, entry.path) and entry.path or nil
  end
  if has_ended then
    Queue.leave_all(call, {})
  elseif #written > 0 then
    Queue.leave_others(call, written)
  end
end

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
  local paths = paths_in(entries)
  if not Entries.load(call, paths, Entries.MAX_AT_ONCE) then
    return Answer.too_much(call, 'LOCKS')
  end
  local run = begin_run(call, cited, paths)
  local is_unknown_intent = cited ~= '' and not Records.of(call, cited)
  if is_unknown_intent then
    run.cited = ''
  end
  Session.load(call)
  local outcomes = {}
  for index, entry in ipairs(entries) do
    outcomes[index] = record_entry(call, run, entry)
  end
  save_traces(call, run.traces)
  LockChanges.save(call)
  local without_room = save_contents(call, run)
  save_uses(call, run.has_line)
  if call.request.queue then
    leave_queue(call, entries, outcomes)
  end
  return Answer.reply(call, 'RECORDED', {
    outcomes = Answer.some(outcomes),
    has_lines = next(run.has_line) ~= nil,
    is_unknown_intent = is_unknown_intent,
    without_room = without_room,
  })
end
