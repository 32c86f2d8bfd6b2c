-- update_task: makes all changes to a task, or none.
-- KEYS: those of admission/request, of a team (`team_keys.rs`)
-- The request has the fields of teams/team, `task_id`, and `changes`. Absent fields stay: `title`, `priority`, `files`, `branch`,
-- `intent_id`, `description`, '' for none, `dependencies` and `blocks`: ids of its dependencies, and of its dependents. There may also be
-- `note` to add, `status`: the desired one, `clear_lapses`, and `drops_completed`: `dependencies` lists completed ones too.
-- Returns Team.reply(): UPDATED, what View.whole_view() returns; NOT_BY_UPDATE, `from` a status `to` the desired one, which takes a claim
-- or a completion; nothing changed; or REFUSED; or one of the denials of Admission.admit()
local Admission = require('admission/admission')
local Edges = require('tasks/edges')
local Entries = require('locks/entries')
local Held = require('locks/held')
local Notes = require('tasks/notes')
local Offers = require('tasks/offers')
local Planned = require('tasks/planned')
local Renewals = require('tasks/renewals')
local Rings = require('tasks/rings')
local Task = require('tasks/task')
local TaskBytes = require('tasks/bytes')
local Team = require('teams/team')
local TeamBytes = require('teams/bytes')
local View = require('tasks/view')

-- The reply to a request that wants a different status, or nil.
local function status_reply(call, task)
  local NEXT = { pending = 'in_progress', in_progress = 'completed' }
  local status = call.request.changes.status
  if not status or status == task.status then
    return nil
  end
  if NEXT[task.status] ~= status then
    return Team.refuse(call, 'INVALID_TRANSITION', { from = task.status, to = status })
  end
  return Team.reply(call, 'NOT_BY_UPDATE', { from = task.status, to = status })
end

-- The refusal of changes to other fields, or nil.
local function refuse_fields(call, id, task)
  local fields = call.request.changes
  if fields.clear_lapses and not Team.is_leader(call) and not Task.is_member(call.member, task.by, task.by_login) then
    return Team.refuse(call, 'NOT_CREATOR', { creator = task.by, leader = call.team.leader })
  end
  if (fields.files or fields.branch) and task.locked then
    if task.owner then
      return Team.refuse(call, 'FILES_CLAIMED', { id = id, other = call.team_key .. '/' .. id, file = task.files[1] })
    end
    -- Its claim has expired, and the locks with it.
    task.locked = nil
  end
  if fields.note and not Notes.has_room_for_note(call, id, task, fields.note) then
    return Team.refuse(call, 'NOTES_FULL', { id = id })
  end
end

-- The current ends of the edges on the sides that the request changes: dependencies, and dependents.
local function load_old_ends(call, id)
  local fields, dependencies, blocks = call.request.changes, {}, {}
  if fields.dependencies then
    dependencies = Edges.ends_of(call, 'd', id)
  end
  if fields.blocks then
    blocks = Edges.ends_of(call, 'b', id)
    for _, other in ipairs((Edges.ends_of(call, 'c', id))) do
      blocks[#blocks + 1] = other
    end
  end
  return dependencies, blocks
end

-- The ids in the lists, each once.
local function ids_in(lists)
  local ids, is_named = {}, {}
  for _, list in ipairs(lists) do
    for _, id in ipairs(list) do
      if not is_named[id] then
        is_named[id] = true
        ids[#ids + 1] = id
      end
    end
  end
  return ids
end

-- Returns the first of `wanted` that does not exist; or nil. The task `id` itself closes a ring, which is refused later.
local function first_unknown(wanted, id, existing)
  for _, other in ipairs(wanted) do
    if other ~= id and not existing[other] then
      return other
    end
  end
end

-- Returns the refusal of dependencies or blocked tasks that do not exist; or nil.
local function refuse_unknown(call, id, dependencies, blocks, existing)
  local unknown = first_unknown(dependencies, id, existing)
  if unknown then
    return Team.refuse(call, 'NO_DEPENDENCY', { id = unknown })
  end
  unknown = first_unknown(blocks, id, existing)
  return unknown and Team.refuse(call, 'NO_BLOCKED', { id = unknown })
end

-- Plans the new edges on one side, and adds the others to `removed`. Edges to completed tasks stay unless `drops_completed`: they are
-- history.
local function replan(call, removed, completed, old, wanted, edge_of, drops_completed)
  local is_wanted, is_old = {}, {}
  for _, other in ipairs(wanted) do
    is_wanted[other] = true
  end
  for _, other in ipairs(old) do
    is_old[other] = true
    if not is_wanted[other] and (drops_completed or not completed[other]) then
      removed[#removed + 1] = edge_of(other)
    end
  end
  for _, other in ipairs(wanted) do
    if not is_old[other] then
      Planned.plan_edge(call, unpack(edge_of(other)))
    end
  end
end

-- The refusal if a task would have too many dependencies, or nil.
local function refuse_dependencies(call, removed, completed)
  local removed_count = {} -- task -> number of its removed dependencies
  for _, edge in ipairs(removed) do
    removed_count[edge[1]] = (removed_count[edge[1]] or 0) + 1
  end
  return Planned.refuse_planned(call, function(other)
    return Edges.count_of_ends(call, 'd', other, completed[other]) - (removed_count[other] or 0)
  end)
end

-- How many bytes longer the new text is.
local function added_bytes(new, old)
  return new and math.max(0, #new - #(old or '')) or 0
end

-- How many bytes the request adds.
local function bytes_of_changes(call, id, task)
  local fields = call.request.changes
  local note, description = fields.note, fields.description
  return added_bytes(fields.title, task.title)
    + (note and #note + TaskBytes.BYTES_OF_NOTE or 0)
    + #call.added * TaskBytes.BYTES_OF_DEPENDENCY
    + added_bytes(fields.files and cjson.encode(fields.files), task.files and cjson.encode(task.files))
    + (description and added_bytes(description, redis.call('HGET', call.keys.texts, id) or '') or 0)
end

-- The refusal if the planned edges would close a ring without the `removed` ones, or nil.
local function refuse_ring(call, id, removed)
  if #call.added == 0 then
    return nil
  end
  local is_removed = {}
  for _, edge in ipairs(removed) do
    is_removed[edge[1] .. ' ' .. edge[2]] = true
  end
  local ring, is_cut = Rings.ring_of(call, call.added, is_removed, {})
  if is_cut then
    return Rings.refuse_search(call)
  elseif ring then
    return Rings.refuse_ring(call, ring, { [id] = true })
  end
end

-- Writes the planned edges, and deletes the `removed` ones. Returns by how much the numbers of unmet dependencies change: id -> difference.
local function write_edges(call, removed, completed)
  local change = #call.added > 0 and Planned.link_planned(call, completed) or {}
  for _, edge in ipairs(removed) do
    Planned.unlink(call, edge[1], edge[2])
    if not completed[edge[1]] and not completed[edge[2]] then
      change[edge[1]] = (change[edge[1]] or 0) - 1
    end
  end
  return change
end

-- Changes the fields of the task, which is `bytes` longer then.
local function write_task(call, id, task, bytes)
  local fields = call.request.changes
  task.title, task.priority = fields.title or task.title, fields.priority or task.priority
  task.branch, task.intent_id = fields.branch or task.branch, fields.intent_id or task.intent_id
  if fields.files then
    task.files = #fields.files > 0 and fields.files or nil
  end
  if fields.dependencies then
    task.dependency_order = Planned.order_of(fields.dependencies)
  end
  if fields.blocks then
    task.block_order = Planned.order_of(fields.blocks)
  end
  if fields.clear_lapses then
    if Task.is_held_back(task) then
      redis.call('ZREM', call.keys.edges, 'h ' .. id)
    end
    task.lapses = nil
  end
  task.updated = call.now_ms
  if bytes > 0 then
    TaskBytes.add_bytes(call, task, bytes)
    TeamBytes.count_bytes(call, 'bytes', call.request.user_id, bytes)
  end
  Task.save_task(call, id, task)
end

-- Changes the numbers of unmet dependencies, and with them the queue.
local function write_unmet(call, id, task, change)
  change[id] = change[id] or 0
  for other, difference in pairs(change) do
    local unmet = tonumber(redis.call('HGET', call.keys.unmet, other) or 0) + difference
    Edges.set_unmet(call, other, unmet)
    local changed = other == id and task or Task.load_task(call, other)
    Task.update_queue(call, other, changed, unmet)
  end
end

local function write_texts(call, id)
  local note, description = call.request.changes.note, call.request.changes.description
  if description == '' then
    redis.call('HDEL', call.keys.texts, id)
  elseif description then
    redis.call('HSET', call.keys.texts, id, description)
  end
  if note then
    Notes.add_note(call, id, note, call.member)
  end
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
  local id, fields = call.request.task_id, call.request.changes
  local task = Task.current_task(call, id)
  if not task then
    return Team.refuse(call, 'NO_TASK', { id = id, team = call.team.name })
  end
  local reply = status_reply(call, task) or refuse_fields(call, id, task)
  if reply then
    return reply
  end

  local dependencies, blocks = fields.dependencies or {}, fields.blocks or {}
  local old_dependencies, old_blocks = load_old_ends(call, id)
  local completed, existing = Edges.statuses(call, ids_in({ dependencies, blocks, old_dependencies, old_blocks }))
  completed[id] = task.status == 'completed'
  reply = refuse_unknown(call, id, dependencies, blocks, existing)
  if reply then
    return reply
  end
  local removed = {} -- edges, each { task, its dependency }
  replan(call, removed, completed, old_dependencies, dependencies, function(other)
    return { id, other }
  end, fields.drops_completed)
  replan(call, removed, completed, old_blocks, blocks, function(other)
    return { other, id }
  end)
  reply = refuse_dependencies(call, removed, completed)
  if reply then
    return reply
  end
  local bytes = bytes_of_changes(call, id, task)
  reply = TaskBytes.refuse_bytes(call, bytes) or refuse_ring(call, id, removed)
  if reply then
    return reply
  end

  local change = write_edges(call, removed, completed)
  write_task(call, id, task, bytes)
  write_unmet(call, id, task, change)
  write_texts(call, id)
  Offers.save(call)
  Task.emit_task(call, 'task_updated', id, task, call.member.handle, call.member.login)
  Renewals.renew(call)
  return Team.reply(call, 'UPDATED', View.whole_view(call, id, Task.load_task(call, id)))
end
