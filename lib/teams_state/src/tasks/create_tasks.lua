-- create_tasks: adds tasks, all or none of them.
-- KEYS: those of admission/request, of a team (`team_keys.rs`)
-- The request has the fields of teams/team and teams/answers, and `tasks`, each with `title` and `priority`; and, absent for none,
-- `description`, `id`, `reference`: its name in a refusal, `files`, `branch`, `intent_id`, `dependencies`: its dependencies, and `blocks`: its
-- dependents: lists of ids, and of places of tasks of the request.
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
    local stored, kept, kept_ids = redis.call('HMGET', call.keys.tasks, unpack(ids)), {}, {}
    for index, id in ipairs(ids) do
      if stored[index] then
        kept_ids[#kept_ids + 1], kept[#kept + 1] = id, stored[index]
      end
    end
    return Team.reply(call, 'CREATED', { ids = ids, tasks = Answer.some(View.views_of(call, kept_ids, kept)) })
  end
  local earlier, misused = Answers.answered_before(call)
  if misused then
    return misused
  elseif earlier then
    return answer(cjson.decode(earlier))
  end

  local MOST_OPEN, MOST_OPEN_OF_LOGIN, MOST_DIGITS = 20000, 5000, 9
  local tasks, count = call.request.tasks, #call.request.tasks
  if tonumber(redis.call('HGET', call.keys.teams, call.team_key .. '/open')) + count > MOST_OPEN then
    return Team.refuse(call, 'TOO_MANY', { what = 'open tasks', most = MOST_OPEN })
  end
  local number, own_open = unpack(redis.call('HMGET', call.keys.team, 'tasks', 'open ' .. call.member.login))
  number, own_open = tonumber(number or 0), (own_open or 0) + count
  if own_open > MOST_OPEN_OF_LOGIN and Team.load_member(call, call.team.leader).login ~= call.member.login then
    return Team.refuse(call, 'TOO_MANY', { what = 'open tasks of one login that does not lead the team', most = MOST_OPEN_OF_LOGIN })
  end
  local ids, names, is_new, is_taken, spelled, place_of_new = {}, {}, {}, {}, {}, {}
  local descriptions, dependencies_of, blocks_of, bytes_of = {}, {}, {}, {}
  for index, task in ipairs(tasks) do
    local name = task.id or task.reference or '#' .. index
    descriptions[index], dependencies_of[index], blocks_of[index] = task.description or '', task.dependencies or {}, task.blocks or {}
    task.description, task.dependencies, task.blocks, task.reference = nil, nil, nil, nil
    bytes_of[index] = #cjson.encode(task) + #descriptions[index]
    number = number + 1
    local id = task.id or string.format('t%.0f', number)
    -- Longer numbers are no numbers of Coord's: the next ones, and the places in the queue, would not be whole numbers any more.
    local own = #id <= #'t' + MOST_DIGITS and tonumber(string.match(id, '^[tT](%d+)$'))
    if own and own > number then
      number = own
    end
    task.number = number
    task.status, task.created, task.by, task.by_login = 'pending', call.now_ms, call.member.handle, call.member.login
    if is_taken[string.lower(id)] or task.id and TaskSpelling.is_id_taken(call, id) then
      return Team.refuse(call, 'TASK_EXISTS', { id = id })
    end
    if string.lower(id) ~= id then
      spelled[#spelled + 1] = 0
      spelled[#spelled + 1] = TaskSpelling.spelling_mark(id)
    end
    task.id, place_of_new[id] = nil, index
    ids[index], names[id], is_new[id], is_taken[string.lower(id)] = id, name, true, true
  end

  -- The tasks that are named: those of the request, or of the team.
  local named, is_named = {}, {}
  for index = 1, count do
    for _, list in ipairs({ dependencies_of[index], blocks_of[index] }) do
      for place, name in ipairs(list) do
        local id = ids[name] or name
        list[place] = id
        if not is_new[id] and not is_named[id] then
          is_named[id] = true
          named[#named + 1] = id
        end
      end
    end
  end
  local completed, found = Edges.statuses(call, named)
  for index, task in ipairs(tasks) do
    for _, id in ipairs(dependencies_of[index]) do
      if not is_new[id] and not found[id] then
        return Team.refuse(call, 'NO_DEPENDENCY', { id = id })
      end
      Planned.plan_edge(call, ids[index], id)
    end
    for _, id in ipairs(blocks_of[index]) do
      if not is_new[id] and not found[id] then
        return Team.refuse(call, 'NO_BLOCKED', { id = id })
      end
      Planned.plan_edge(call, id, ids[index])
    end
    task.dependency_order, task.block_order = Planned.given_order(dependencies_of[index]), Planned.given_order(blocks_of[index])
  end
  local too_many = Planned.refuse_planned(call, function(id)
    return is_new[id] and 0 or Edges.count_of_ends(call, 'd', id, completed[id])
  end)
  if too_many then
    return too_many
  end
  -- Each new task counts itself and its dependencies; those that others come to have on it, too. A ring through tasks that were there
  -- before takes an edge from one of these, and one to one.
  local edges_of, among_new, leads_in, leads_out, bytes = {}, {}, false, false, 0
  for _, edge in ipairs(call.added) do
    local of, on = place_of_new[edge[1]], place_of_new[edge[2]]
    edges_of[of or on] = (edges_of[of or on] or 0) + 1
    if of and on then
      among_new[#among_new + 1] = edge
    end
    leads_in, leads_out = leads_in or not of, leads_out or not on
  end
  for index, task in ipairs(tasks) do
    local own = TaskBytes.BYTES_OF_TASK + bytes_of[index] + TaskBytes.BYTES_OF_DEPENDENCY * (edges_of[index] or 0)
    TaskBytes.add_bytes(call, task, own)
    bytes = bytes + own
  end
  local no_room = TaskBytes.refuse_bytes(call, bytes)
  if no_room then
    return no_room
  end
  local searched = leads_in and leads_out and call.added or among_new
  local ring, is_cut
  if #searched > 0 then
    ring, is_cut = Rings.ring_of(call, searched, {}, is_new)
  end
  if is_cut then
    return Rings.refuse_search(call)
  elseif ring then
    local is_about = {}
    for index, id in ipairs(ring) do
      ring[index] = names[id] or id
      is_about[ring[index]] = names[id] ~= nil
    end
    return Rings.refuse_ring(call, ring, is_about)
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
  Chunks.call_in_chunks('ZADD', call.keys.edges, spelled)
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
