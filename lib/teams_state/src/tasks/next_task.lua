-- next_task: claims the first ready task whose files are free, with its files: a task that is assigned to the caller, else by priority and
-- age.
-- KEYS: those of admission/request, of a team (`team_keys.rs`); with files also those of locks
-- The request has the fields of teams/team, teams/answers and tasks/file_claims, `seconds` of the claim, and `skipped`: ids of tasks that
-- are passed over because intents refuse them, absent for none.
-- Returns Team.reply(): CLAIMED, `task`: what View.whole_view() returns, and `passed`: the tasks before it, as named_passes() has them;
-- CLAIMED_FILES, which also has `files`: the answer of ClaimFiles.claim(), and `files_now`: its time, if that is not the time of the reply;
-- NOTHING, `counts`: how many tasks were ever `made`, are `open`, are `claimed`, and are `ready`, in the queue; `held`: the next claims to
-- expire, each with `id`, `owner`, and when it `expires`; `passed`; `obstacles`: up to 5 tasks that others wait for, `blocking`, up to 5
-- that are `held_back`, each with `id` and `creator`, `held_back_count`, and the `leader`; FILES or REFUSED, as claim_task
--      or { MARK_FIRST, now }: one would be claimed after mark_due
--      or a different outcome of a claim of files, or a denial, as claim_task
local Adjacency = require('builds/adjacency')
local Admission = require('admission/admission')
local Answer = require('answer')
local Answers = require('teams/answers')
local DueMark = require('admission/due_mark')
local Edges = require('tasks/edges')
local Entries = require('locks/entries')
local FileClaims = require('tasks/file_claims')
local FileLocks = require('tasks/file_locks')
local FileTerms = require('tasks/file_terms')
local GateRequest = require('locks/gate_request')
local Held = require('locks/held')
local Hold = require('tasks/hold')
local LockChanges = require('locks/changes')
local Policy = require('locks/policy')
local Releases = require('locks/releases')
local Renewals = require('tasks/renewals')
local Survey = require('locks/survey')
local Task = require('tasks/task')
local Team = require('teams/team')
local View = require('tasks/view')

-- Tasks that are passed over, with named fields: `id`, `reason`: RESERVED for a member, LOCKED, BRANCH: it is for a different one,
-- FILES_CLAIMED: the caller has a task with one of the files, INTENT, TOO_MUCH to look at; and, absent for none, `handle`, `until` (Unix
-- milliseconds), `user` and `agent` of a lock, and `what`: file or branch. Remembered answers have lists of these values, '' for none.
local function named_passes(passed)
  local NAMES, passes = { 'id', 'reason', 'handle', 'until', 'user', 'agent', 'what' }, {}
  for index, values in ipairs(passed) do
    passes[index] = {}
    for position, name in ipairs(NAMES) do
      passes[index][name] = values[position] ~= '' and values[position] or nil
    end
    passes[index]['until'] = tonumber(passes[index]['until'])
  end
  return Answer.some(passes)
end

-- The reply to a repeated request, by the answer that answer_to_remember() returned.
local function repeated_reply(call, remembered)
  local task = Task.load_task(call, remembered.id)
  if not task or not Task.is_owned_by(call, task, call.member) or string.format('%.0f', task.token) ~= remembered.token then
    return Team.refuse(call, 'CLAIM_LOST', { id = remembered.id, owner = (task or {}).owner, status = (task or {}).status })
  end
  local files = remembered.locks
  if files and not files.own then
    -- The remembered answer had no room for them.
    local own = {}
    for index, entry in ipairs(FileLocks.locks_of(call, remembered.id, task) or {}) do
      own[index] = Entries.to_json(call, entry)
    end
    files.own = Answer.some(own)
    LockChanges.save(call)
  end
  return Team.reply(call, files and 'CLAIMED_FILES' or 'CLAIMED', {
    task = View.whole_view(call, remembered.id, task),
    passed = named_passes(remembered.passed),
    files = files,
    files_now = remembered.now,
  })
end

-- The answer to remember for a repeated request. A large one goes without the caller's locks, which are read again when the request is
-- repeated; if it is still too large, its findings are counted as omitted.
local function answer_to_remember(call, id, task, passed, files)
  local MAX_BYTES = 16384
  -- `locks`, and not `files`: earlier versions kept lists there.
  local answer = { id = id, token = string.format('%.0f', task.token), passed = passed, locks = files, now = call.now }
  local text = cjson.encode(answer)
  if not files or #text <= MAX_BYTES then
    return text
  end
  local shortened = {}
  for name, value in pairs(files) do
    shortened[name] = value
  end
  answer.locks, shortened.own = shortened, nil
  text = cjson.encode(answer)
  if #text <= MAX_BYTES then
    return text
  end
  shortened.omitted, shortened.findings = (shortened.omitted or 0) + #(shortened.findings or {}), nil
  return cjson.encode(answer)
end

-- A search for a task that the caller may have. `passed`: the tasks before it, lists of the values of named_passes(); `is_over`: the run can
-- look at no more files; `unjudged`: files that the policy has yet to judge; `surveyed`: what Survey.of() returns for the files of the last
-- task that was looked at.
local function begin_search(call)
  local search = { passed = {}, is_passed = {}, is_skipped = {}, file_count = 0, is_over = false, unjudged = {} }
  for _, id in ipairs(call.request.skipped or {}) do
    search.is_skipped[id] = true
  end
  return search
end

local function pass_over(search, id, reason, handle, ends, entry, what)
  search.is_passed[id] = true
  search.passed[#search.passed + 1] = {
    id,
    reason,
    handle or '',
    ends and string.format('%.0f', ends) or '',
    entry and entry.user_id or '',
    entry and entry.agent_id or '',
    what or '',
  }
end

-- Whether the files of the task cannot be claimed; then it is passed over. One run looks at MAX_FILES.
local function are_files_blocked(call, search, id, task)
  local MAX_FILES = 1024
  if task.branch and task.branch ~= call.request.branch then
    pass_over(search, id, 'BRANCH', nil, nil, nil, task.branch)
    return true
  elseif search.is_skipped[id] then
    pass_over(search, id, 'INTENT')
    return true
  end
  search.is_over = search.file_count > 0 and search.file_count + #task.files > MAX_FILES
  if search.is_over then
    return true
  end
  search.file_count = search.file_count + #task.files
  if not Policy.has_judged(call, task.files) then
    for _, path in ipairs(task.files) do
      table.insert(search.unjudged, path)
    end
    search.is_passed[id] = true
    return true
  end
  search.surveyed = { Survey.of(call, Policy.without_ignored(call, task.files), 'WRITING', call.policy.neighbors, call.interface_of) }
  local findings, is_blocked = unpack(search.surveyed, 1, 2)
  if not findings then
    search.is_over = true
    pass_over(search, id, 'TOO_MUCH')
    return true
  end
  if is_blocked then
    local entry = cjson.decode(findings[1].entry)
    pass_over(search, id, 'LOCKED', nil, entry.expiry_ms, entry, entry.file_path)
    return true
  end
  local other, shared = FileClaims.other_task_of(call, id, task.files)
  if other then
    pass_over(search, id, 'FILES_CLAIMED', call.member.handle, nil, nil, shared)
  end
  return other ~= nil
end

-- The first of some tasks that the caller may have, with its id; nil for none.
local function first_of(call, search, ids)
  if #ids == 0 then
    return nil
  end
  local stored = redis.call('HMGET', call.keys.tasks, unpack(ids))
  for index, id in ipairs(ids) do
    local task = stored[index] and not search.is_passed[id] and cjson.decode(stored[index])
    if task and Task.is_reserved(call, task, call.member) then
      pass_over(search, id, 'RESERVED', task.assignee, task.reserved)
    elseif task and not (task.files and call.request.file_mode == 'HEAD' and are_files_blocked(call, search, id, task)) then
      return id, task
    elseif search.is_over then
      return nil
    end
  end
end

-- The ready tasks that are assigned to the caller, in the order of the queue.
local function assigned_ids(call)
  local assigned = {}
  for id in string.gmatch(call.member.assigned, '%S+') do
    local score = redis.call('ZSCORE', call.keys.ready, id)
    local task = score and Task.load_task(call, id)
    if task and task.assignee and string.lower(task.assignee) == string.lower(call.member.handle) then
      assigned[#assigned + 1] = { id = id, score = tonumber(score) }
    end
  end
  table.sort(assigned, function(left, right)
    return left.score < right.score
  end)
  for index, ready in ipairs(assigned) do
    assigned[index] = ready.id
  end
  return assigned
end

-- The task to claim, with its id: an assigned one, else one of the queue; nil for none.
local function find_task(call, search)
  local MAX_LOOKED_AT = 32
  local id, task = first_of(call, search, assigned_ids(call))
  if not id and not search.is_over then
    id, task = first_of(call, search, redis.call('ZRANGE', call.keys.ready, 0, MAX_LOOKED_AT - 1))
  end
  return id, task
end

-- How many tasks of a kind the reply NOTHING names.
local MAX_NAMED = 5

-- Whether an unclaimed task waits for this one; it looks at the first that depend on it.
local function is_waited_for(call, id)
  local MAX_DEPENDENTS = 20
  local ids = Edges.ends_of(call, 'b', id, MAX_DEPENDENTS)
  local completed, tasks = Edges.statuses(call, ids)
  for _, other in ipairs(ids) do
    if tasks[other] and not completed[other] and not string.find(tasks[other], '"owner":"', 1, true) then
      return true
    end
  end
  return false
end

-- The `obstacles` of the reply NOTHING. `waiting`: how many open tasks are neither claimed nor ready; `candidates`: claimed tasks, to which
-- it adds others that may be waited for.
local function obstacles_of(call, waiting, candidates, passed)
  local blocking, held_back, held_back_count = {}, {}, 0
  if waiting > 0 then
    -- In the end, all waiting tasks wait for tasks that are claimed, passed over or held back.
    for index = 1, math.min(#passed, MAX_NAMED) do
      candidates[#candidates + 1] = passed[index][1]
    end
    local marks = redis.call('ZRANGEBYLEX', call.keys.edges, '[h ', '(h ~', 'LIMIT', 0, MAX_NAMED)
    for index, mark in ipairs(marks) do
      local held_id = string.sub(mark, 3)
      held_back[index], candidates[#candidates + 1] = { id = held_id, creator = Task.load_task(call, held_id).by }, held_id
    end
    held_back_count = #marks < MAX_NAMED and #marks or redis.call('ZLEXCOUNT', call.keys.edges, '[h ', '(h ~')
    for _, other in ipairs(waiting > held_back_count and candidates or {}) do
      if #blocking < MAX_NAMED and is_waited_for(call, other) then
        blocking[#blocking + 1] = other
      end
    end
  end
  return {
    blocking = Answer.some(blocking),
    held_back = Answer.some(held_back),
    held_back_count = held_back_count,
    leader = call.team.leader,
  }
end

-- The reply if no task is claimed.
local function nothing(call, passed)
  local open, claimed = tonumber(redis.call('HGET', call.keys.teams, call.team_key .. '/open')), redis.call('ZCARD', call.keys.leases)
  local made, ready = tonumber(redis.call('HGET', call.keys.team, 'tasks') or 0), redis.call('ZCARD', call.keys.ready)
  local claimed_ids, next_lapses = redis.call('ZRANGE', call.keys.leases, 0, MAX_NAMED - 1), {}
  for index, id in ipairs(claimed_ids) do
    local task = Task.load_task(call, id)
    next_lapses[index] = { id = id, owner = task.owner, expires = task.expires }
  end
  local obstacles = obstacles_of(call, open - claimed - ready, claimed_ids, passed)
  return Team.reply(call, 'NOTHING', {
    counts = { made = made, open = open, claimed = claimed, ready = ready },
    held = Answer.some(next_lapses),
    passed = named_passes(passed),
    obstacles = obstacles,
  })
end

-- Claims the files of the task, if it has any and the request is about files. Nil, and the answer of ClaimFiles.claim() if files are
-- claimed; or the reply to the whole request.
local function claim_files(call, id, task, surveyed)
  local seconds, file_mode = call.request.seconds, call.request.file_mode
  local has_files = task.files ~= nil and file_mode ~= nil
  if has_files and file_mode == 'NO_HEAD' then
    return Team.refuse(call, 'HEAD_REQUIRED', { id = id, field = 'agent_head' })
  end
  task.locked = nil
  if has_files then
    call.gate.is_quiet = true
    return FileClaims.claim(call, id, task, seconds, surveyed)
  elseif DueMark.lacks_mark(call, seconds) then
    return { 'MARK_FIRST', call.now }
  end
  DueMark.note_mark(call, seconds)
end

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)
  Entries.begin(call)
  Held.begin(call)
  FileTerms.begin(call)
  Adjacency.begin(call)
  Releases.begin(call)
  GateRequest.begin(call)
  FileClaims.begin(call)

  local denial = Admission.admit(call, function()
    return false
  end) or Team.enter(call, true)
  if denial then
    return denial
  end
  local earlier, refusal = Answers.find_earlier(call)
  if refusal then
    return refusal
  elseif earlier then
    return repeated_reply(call, cjson.decode(earlier))
  end
  refusal = Hold.refuse_claim(call)
  if refusal then
    return refusal
  end
  -- How many expired claims one run settles.
  local MAX_SETTLED = 512
  Task.settle_lapsed(call, MAX_SETTLED)

  local search = begin_search(call)
  local id, task = find_task(call, search)
  if #search.unjudged > 0 then
    LockChanges.save(call)
    return Policy.question(call, search.unjudged)
  end
  if not id then
    LockChanges.save(call)
    Renewals.renew(call)
    return nothing(call, search.passed)
  end
  local reply, files = claim_files(call, id, task, search.surveyed)
  if reply then
    return reply
  end
  Renewals.renew(call)
  Hold.hold(call, id, task, call.request.seconds)
  if call.request.request_key then
    Answers.remember_answer(call, answer_to_remember(call, id, task, search.passed, files))
  end
  return Team.reply(call, files and 'CLAIMED_FILES' or 'CLAIMED', {
    task = View.whole_view(call, id, task),
    passed = named_passes(search.passed),
    files = files,
  })
end
