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
  local function answer(ids)
    local stored, existing, existing_ids = redis.call('HMGET', call.keys.tasks, unpack(ids)), {}, {}
    for index, id in ipairs(ids) do
      if stored[index] then
        existing_ids[#existing_ids + 1], existing[#existing + 1] = id, stored[index]
      end
    end
    return Team.reply(call, 'CREATED', { ids = ids, tasks = Answer.some(View.views_of(call, existing_ids, existing)) })
  end
  local earlier, refusal = Answers.find_earlier(call)
  if refusal then
    return refusal
  elseif earlier then
    return answer(cjson.decode(earlier))
  end

  local MAX_OPEN, MAX_OPEN_PER_LOGIN, MAX_DIGITS = 20000, 5000, 9
  local tasks, count = call.request.tasks, #call.request.tasks
  if tonumber(redis.call('HGET', call.keys.teams, call.team_key .. '/open')) + count > MAX_OPEN then
    return Team.refuse(call, 'TOO_MANY', { what = 'open tasks', most = MAX_OPEN })
  end
  local number, own_open = unpack(redis.call('HMGET', call.keys.team, 'tasks', 'open ' .. call.member.login))
  number, own_open = tonumber(number or 0), (own_open or 0) + count
  if own_open > MAX_OPEN_PER_LOGIN and Team.load_member(call, call.team.leader).login ~= call.member.login then
    return Team.refuse(call, 'TOO_MANY', { what = 'open tasks of one login that does not lead the team', most = MAX_OPEN_PER_LOGIN })
  end
  local ids, names, is_new, is_taken, spelling_marks, index_of_new = {}, {}, {}, {}, {}, {}
  local descriptions, dependencies_of, blocks_of, bytes_of = {}, {}, {}, {}
  for index, task in ipairs(tasks) do
    local name = task.id or task.reference or '#' .. index
    descriptions[index], dependencies_of[index], blocks_of[index] = task.description or '', task.dependencies or {}, task.blocks or {}
    task.description, task.dependencies, task.blocks, task.reference = nil, nil, nil, nil
    bytes_of[index] = #cjson.encode(task) + #descriptions[index]
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
      spelling_marks[#spelling_marks + 1] = 0
      spelling_marks[#spelling_marks + 1] = TaskSpelling.spelling_mark(id)
    end
    task.id, index_of_new[id] = nil, index
    ids[index], names[id], is_new[id], is_taken[string.lower(id)] = id, name, true, true
  end

  -- The existing tasks that the request names.
  local named, is_named = {}, {}
  for index = 1, count do
    for _, list in ipairs({ dependencies_of[index], blocks_of[index] }) do
      for position, name in ipairs(list) do
        local id = ids[name] or name
        list[position] = id
        if not is_new[id] and not is_named[id] then
          is_named[id] = true
          named[#named + 1] = id
        end
      end
    end
  end
  local completed, existing_tasks = Edges.statuses(call, named)
  for index, task in ipairs(tasks) do
    for _, id in ipairs(dependencies_of[index]) do
      if not is_new[id] and not existing_tasks[id] then
        return Team.refuse(call, 'NO_DEPENDENCY', { id = id })
      end
      Planned.plan_edge(call, ids[index], id)
    end
    for _, id in ipairs(blocks_of[index]) do
      if not is_new[id] and not existing_tasks[id] then
        return Team.refuse(call, 'NO_BLOCKED', { id = id })
      end
      Planned.plan_edge(call, id, ids[index])
    end
    task.dependency_order, task.block_order = Planned.order_of(dependencies_of[index]), Planned.order_of(blocks_of[index])
  end
  local too_many = Planned.refuse_planned(call, function(id)
    return is_new[id] and 0 or Edges.count_of_ends(call, 'd', id, completed[id])
  end)
  if too_many then
    return too_many
  end
  -- Each new task counts itself and its dependencies, and those of existing tasks on it. A ring through existing tasks needs an edge from
  -- one of them, and an edge to one.
  local edge_count, among_new, from_existing, to_existing, bytes = {}, {}, false, false, 0
  for _, edge in ipairs(call.added) do
    local dependent, dependency = index_of_new[edge[1]], index_of_new[edge[2]]
    edge_count[dependent or dependency] = (edge_count[dependent or dependency] or 0) + 1
    if dependent and dependency then
      among_new[#among_new + 1] = edge
    end
    from_existing, to_existing = from_existing or not dependent, to_existing or not dependency
  end
  for index, task in ipairs(tasks) do
    local task_bytes = TaskBytes.BYTES_OF_TASK + bytes_of[index] + TaskBytes.BYTES_OF_DEPENDENCY * (edge_count[index] or 0)
    TaskBytes.add_bytes(call, task, task_bytes)
    bytes = bytes + task_bytes
  end
  local no_room = TaskBytes.refuse_bytes(call, bytes)
  if no_room then
    return no_room
  end
  local searched = from_existing and to_existing and call.added or among_new
  local ring, is_cut
  if #searched > 0 then
    ring, is_cut = Rings.ring_of(call, searched, {}, is_new)
  end
  if is_cut then
    return Rings.refuse_search(call)
  elseif ring then
    local is_of_request = {}
    for index, id in ipairs(ring) do
      ring[index] = names[id] or id
      is_of_request[ring[index]] = names[id] ~= nil
    end
    return Rings.refuse_ring(call, ring, is_of_request)
  end

  local stored, texts, order, ready, unmet = {}, {}, {}, {}, {}
  local more = #call.added > 0 and Planned.link_planned(call, completed) or {}
  for index, id in ipairs(ids) do
    local task, description = tasks[index], descriptions[index]
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
  local blocked = {}
  for id, count_more in pairs(more) do
    if is_new[id] then
      table.insert(unmet, id)
      table.insert(unmet, count_more)
    else
      table.insert(blocked, id)
    end
  end
  for index, before in ipairs(Chunks.values_of(call.keys.unmet, blocked)) do
    table.insert(unmet, blocked[index])
    table.insert(unmet, (before or 0) + more[blocked[index]])
  end
  Chunks.call_in_chunks('ZREM', call.keys.ready, blocked)
  Chunks.call_in_chunks('HSET', call.keys.tasks, stored)
  Chunks.call_in_chunks('HSET', call.keys.texts, texts)
  Chunks.call_in_chunks('HSET', call.keys.unmet, unmet)
  Chunks.call_in_chunks('ZADD', call.keys.order, order)
  Chunks.call_in_chunks('ZADD', call.keys.edges, spelling_marks)
  Chunks.call_in_chunks('ZADD', call.keys.ready, ready)
  redis.call('HSET', call.keys.team, 'tasks', number, 'open ' .. call.member.login, own_open)
  Offers.save(call)
  Counts.count_tasks(call, count, 0)
  TeamBytes.count_bytes(call, 'bytes', call.request.user_id, bytes)
  Emit.event(call, {
    type = 'task_created',
    team = call.team.name,
    handle = call.member.handle,
    user = call.member.login,
    tasks = Emit.names_of(ids),
    task_count = count,
  })
  Renewals.renew(call)
  Answers.remember_answer(call, cjson.encode(ids))
  return answer(ids)
end
