-- create_tasks: adds tasks, all or none of them.
-- KEYS: those of admission/request, of a team (`team_keys.rs`)
-- The request has the fields of teams/team and teams/answers, and `tasks`, each with `title` and `priority`; and, absent for none,
-- `description`, `id`, `reference`: its name in a refusal, `files`, `branch`, `intent_id`, `dependencies`, and `blocks`: its dependents. The
-- last two are lists of ids, or of positions of tasks in the request.
-- Returns Team.reply(): CREATED, `ids`, and `tasks` as View.views_of() has them, or REFUSED; or one of the denials of Admission.admit()
local Admission = require('admission/admission')
local Answer = require('answer')
local Answers = require('teams/answers')
local Chunks = require('chunks')
local Counts = require('tasks/counts')
local Edges = require('tasks/edges')
local Emit = require('events/emit')
local Entries = require('locks/entries')
local Held = require('locks/held')
local Offers = require('tasks/offers')
local Planned = require('tasks/planned')
local Renewals = require('tasks/renewals')
local Rings = require('tasks/rings')
local Task = require('tasks/task')
local TaskBytes = require('tasks/bytes')
local TaskSpelling = require('tasks/spelling')
local Team = require('teams/team')
local TeamBytes = require('teams/bytes')
local View = require('tasks/view')

-- The reply about created tasks, of which some may be gone.
local function created(call, ids)
  local stored, existing, existing_ids = redis.call('HMGET', call.keys.tasks, unpack(ids)), {}, {}
  for index, id in ipairs(ids) do
    if stored[index] then
      existing_ids[#existing_ids + 1], existing[#existing + 1] = id, stored[index]
    end
  end
  return Team.reply(call, 'CREATED', { ids = ids, tasks = Answer.some(View.views_of(call, existing_ids, existing)) })
end

-- The refusal if the team, or the caller's login, would have too many open tasks; or nil, the number of the newest task, and how many open
-- tasks the login would have.
local function refuse_count(call, count)
  local MAX_OPEN, MAX_OPEN_PER_LOGIN = 20000, 5000
  if tonumber(redis.call('HGET', call.keys.teams, call.team_key .. '/open')) + count > MAX_OPEN then
    return Team.refuse(call, 'TOO_MANY', { what = 'open tasks', most = MAX_OPEN })
  end
  local number, own_open = unpack(redis.call('HMGET', call.keys.team, 'tasks', 'open ' .. call.member.login))
  number, own_open = tonumber(number or 0), (own_open or 0) + count
  if own_open > MAX_OPEN_PER_LOGIN and Team.load_member(call, call.team.leader).login ~= call.member.login then
    return Team.refuse(call, 'TOO_MANY', { what = 'open tasks of one login that does not lead the team', most = MAX_OPEN_PER_LOGIN })
  end
  return nil, number, own_open
end

-- Turns the tasks of the request into new ones, with ids, and numbers after `number`. Returns the refusal if an id is taken; or nil and the
-- new tasks: `tasks`, and lists in the same order: `ids`, `descriptions`, `dependencies`, `blocks`, and `bytes` of their texts; by id
-- `names` in a refusal, `index_of`, and `is_new`; `spelling_marks` to store; and `number` of the last one.
local function number_tasks(call, number)
  local MAX_DIGITS = 9
  local new = { tasks = call.request.tasks, ids = {}, descriptions = {}, dependencies = {}, blocks = {}, bytes = {} }
  new.names, new.index_of, new.is_new, new.spelling_marks = {}, {}, {}, {}
  local is_taken = {}
  for index, task in ipairs(new.tasks) do
    local name = task.id or task.reference or '#' .. index
    new.descriptions[index], new.dependencies[index], new.blocks[index] = task.description or '', task.dependencies or {}, task.blocks or {}
    task.description, task.dependencies, task.blocks, task.reference = nil, nil, nil, nil
    new.bytes[index] = #cjson.encode(task) + #new.descriptions[index]
    number = number + 1
    local id = task.id or string.format('t%.0f', number)
    -- Longer numbers do not count: after them, the next numbers, and scores in the queue, would no longer be whole numbers.
    local id_number = #id <= #'t' + MAX_DIGITS and tonumber(string.match(id, '^[tT](%d+)$'))
    if id_number and id_number > number then
      number = id_number
    end
    task.number = number
    task.status, task.created, task.by, task.by_login = 'pending', call.now_ms, call.member.handle, call.member.login
    if is_taken[string.lower(id)] or task.id and TaskSpelling.is_id_taken(call, id) then
      return Team.refuse(call, 'TASK_EXISTS', { id = id })
    end
    if string.lower(id) ~= id then
      new.spelling_marks[#new.spelling_marks + 1] = 0
      new.spelling_marks[#new.spelling_marks + 1] = TaskSpelling.spelling_mark(id)
    end
    task.id, new.index_of[id] = nil, index
    new.ids[index], new.names[id], new.is_new[id], is_taken[string.lower(id)] = id, name, true, true
  end
  new.number = number
  return nil, new
end

-- Replaces positions in the request by the ids of the new tasks. Returns the existing tasks that the request names.
local function existing_ids_of(new)
  local named, is_named = {}, {}
  for index = 1, #new.ids do
    for _, list in ipairs({ new.dependencies[index], new.blocks[index] }) do
      for position, name in ipairs(list) do
        local id = new.ids[name] or name
        list[position] = id
        if not new.is_new[id] and not is_named[id] then
          is_named[id] = true
          named[#named + 1] = id
        end
      end
    end
  end
  return named
end

-- Plans the edges of the new tasks; returns the refusal if one of them names an unknown task, or if a task would have too many
-- dependencies. `completed`, `existing`: what Edges.statuses() returns.
local function plan_edges(call, new, completed, existing)
  for index, task in ipairs(new.tasks) do
    for _, id in ipairs(new.dependencies[index]) do
      if not new.is_new[id] and not existing[id] then
        return Team.refuse(call, 'NO_DEPENDENCY', { id = id })
      end
      Planned.plan_edge(call, new.ids[index], id)
    end
    for _, id in ipairs(new.blocks[index]) do
      if not new.is_new[id] and not existing[id] then
        return Team.refuse(call, 'NO_BLOCKED', { id = id })
      end
      Planned.plan_edge(call, id, new.ids[index])
    end
    task.dependency_order, task.block_order = Planned.order_of(new.dependencies[index]), Planned.order_of(new.blocks[index])
  end
  return Planned.refuse_planned(call, function(id)
    return new.is_new[id] and 0 or Edges.count_of_ends(call, 'd', id, completed[id])
  end)
end

-- Records in the new tasks how many bytes they are, and returns the sum. Each counts itself and its dependencies, and those of existing
-- tasks on it.
local function count_bytes(call, new)
  local edge_count, bytes = {}, 0
  for _, edge in ipairs(call.added) do
    local index = new.index_of[edge[1]] or new.index_of[edge[2]]
    edge_count[index] = (edge_count[index] or 0) + 1
  end
  for index, task in ipairs(new.tasks) do
    local task_bytes = TaskBytes.BYTES_OF_TASK + new.bytes[index] + TaskBytes.BYTES_OF_DEPENDENCY * (edge_count[index] or 0)
    TaskBytes.add_bytes(call, task, task_bytes)
    bytes = bytes + task_bytes
  end
  return bytes
end

-- The refusal if the planned edges would close a ring, or nil.
local function refuse_ring(call, new)
  -- A ring through existing tasks needs an edge from one of them, and an edge to one.
  local among_new, from_existing, to_existing = {}, false, false
  for _, edge in ipairs(call.added) do
    local dependent, dependency = new.index_of[edge[1]], new.index_of[edge[2]]
    if dependent and dependency then
      among_new[#among_new + 1] = edge
    end
    from_existing, to_existing = from_existing or not dependent, to_existing or not dependency
  end
  local searched = from_existing and to_existing and call.added or among_new
  if #searched == 0 then
    return nil
  end
  local ring, is_cut = Rings.ring_of(call, searched, {}, new.is_new)
  if is_cut then
    return Rings.refuse_search(call)
  elseif ring then
    local is_of_request = {}
    for index, id in ipairs(ring) do
      ring[index] = new.names[id] or id
      is_of_request[ring[index]] = new.names[id] ~= nil
    end
    return Rings.refuse_ring(call, ring, is_of_request)
  end
end

-- How many unmet dependencies the tasks in `more` (id -> how many more) have now, as pairs for HSET; and those that existed before.
local function raise_unmet(call, more, is_new)
  local unmet, blocked = {}, {}
  for id, count in pairs(more) do
    if is_new[id] then
      table.insert(unmet, id)
      table.insert(unmet, count)
    else
      table.insert(blocked, id)
    end
  end
  for index, before in ipairs(Chunks.values_of(call.keys.unmet, blocked)) do
    table.insert(unmet, blocked[index])
    table.insert(unmet, (before or 0) + more[blocked[index]])
  end
  return unmet, blocked
end

-- Writes the planned edges and the new tasks.
local function write_tasks(call, new, completed)
  local stored, texts, order, ready = {}, {}, {}, {}
  local more = #call.added > 0 and Planned.link_planned(call, completed) or {}
  for index, id in ipairs(new.ids) do
    local task, description = new.tasks[index], new.descriptions[index]
    table.insert(stored, id)
    table.insert(stored, cjson.encode(task))
    table.insert(order, task.number)
    table.insert(order, id)
    if description ~= '' then
      table.insert(texts, id)
      table.insert(texts, description)
    end
    if not more[id] then
      table.insert(ready, string.format('%.0f', Task.RANKS[task.priority] * 1e10 + task.number))
      table.insert(ready, id)
    end
  end
  local unmet, blocked = raise_unmet(call, more, new.is_new)
  Chunks.call_in_chunks('ZREM', call.keys.ready, blocked)
  Chunks.call_in_chunks('HSET', call.keys.tasks, stored)
  Chunks.call_in_chunks('HSET', call.keys.texts, texts)
  Chunks.call_in_chunks('HSET', call.keys.unmet, unmet)
  Chunks.call_in_chunks('ZADD', call.keys.order, order)
  Chunks.call_in_chunks('ZADD', call.keys.edges, new.spelling_marks)
  Chunks.call_in_chunks('ZADD', call.keys.ready, ready)
end

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)
  Planned.begin(call)
  Entries.begin(call)
  Held.begin(call)

  local denial = Admission.admit(call) or Team.enter(call, true)
  if denial then
    return denial
  end
  local earlier, refusal = Answers.find_earlier(call)
  if refusal then
    return refusal
  elseif earlier then
    return created(call, cjson.decode(earlier))
  end
  local count = #call.request.tasks
  local number, own_open, new
  refusal, number, own_open = refuse_count(call, count)
  if refusal then
    return refusal
  end
  refusal, new = number_tasks(call, number)
  if refusal then
    return refusal
  end
  local completed, existing = Edges.statuses(call, existing_ids_of(new))
  refusal = plan_edges(call, new, completed, existing)
  if refusal then
    return refusal
  end
  local bytes = count_bytes(call, new)
  refusal = TaskBytes.refuse_bytes(call, bytes) or refuse_ring(call, new)
  if refusal then
    return refusal
  end

  write_tasks(call, new, completed)
  redis.call('HSET', call.keys.team, 'tasks', new.number, 'open ' .. call.member.login, own_open)
  Offers.save(call)
  Counts.count_tasks(call, count, 0)
  TeamBytes.count_bytes(call, 'bytes', call.request.user_id, bytes)
  Emit.event(call, {
    type = 'task_created',
    team = call.team.name,
    handle = call.member.handle,
    user = call.member.login,
    tasks = Emit.names_of(new.ids),
    task_count = count,
  })
  Renewals.renew(call)
  Answers.remember_answer(call, cjson.encode(new.ids))
  return created(call, new.ids)
end
