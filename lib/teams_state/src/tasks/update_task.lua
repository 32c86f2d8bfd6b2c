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
  local note, description = fields.note, fields.description
  local task = Task.current_task(call, id)
  if not task then
    return Team.refuse(call, 'NO_TASK', { id = id, team = call.team.name })
  end
  if fields.status and fields.status ~= task.status then
    local NEXT = { pending = 'in_progress', in_progress = 'completed' }
    if NEXT[task.status] ~= fields.status then
      return Team.refuse(call, 'INVALID_TRANSITION', { from = task.status, to = fields.status })
    end
    return Team.reply(call, 'NOT_BY_UPDATE', { from = task.status, to = fields.status })
  end
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
  if note and not Notes.has_room_for_note(call, id, task, note) then
    return Team.refuse(call, 'NOTES_FULL', { id = id })
  end

  local is_removed, removed = {}, {} -- edges: 'TASK DEPENDENCY' -> true, and the list of { task, its dependency }
  local named, is_named = {}, {}
  local wanted_dependencies, wanted_blocks = fields.dependencies or {}, fields.blocks or {}
  local old_dependencies, old_blocks = {}, {}
  if fields.dependencies then
    old_dependencies = Edges.ends_of(call, 'd', id)
  end
  if fields.blocks then
    old_blocks = Edges.ends_of(call, 'b', id)
    for _, other in ipairs((Edges.ends_of(call, 'c', id))) do
      old_blocks[#old_blocks + 1] = other
    end
  end
  for _, list in ipairs({ wanted_dependencies, wanted_blocks, old_dependencies, old_blocks }) do
    for _, other in ipairs(list) do
      if not is_named[other] then
        is_named[other] = true
        named[#named + 1] = other
      end
    end
  end
  local completed, existing_tasks = Edges.statuses(call, named)
  completed[id] = task.status == 'completed'
  for _, other in ipairs(wanted_dependencies) do
    if other ~= id and not existing_tasks[other] then
      return Team.refuse(call, 'NO_DEPENDENCY', { id = other })
    end
  end
  for _, other in ipairs(wanted_blocks) do
    if other ~= id and not existing_tasks[other] then
      return Team.refuse(call, 'NO_BLOCKED', { id = other })
    end
  end

  -- Plans the new edges on one side. Edges to completed tasks stay unless `drops_completed`: they are history.
  local function replan(old, wanted, edge_of, drops_completed)
    local is_wanted, is_old = {}, {}
    for _, other in ipairs(wanted) do
      is_wanted[other] = true
    end
    for _, other in ipairs(old) do
      is_old[other] = true
      if not is_wanted[other] and (drops_completed or not completed[other]) then
        local edge = edge_of(other)
        removed[#removed + 1] = edge
        is_removed[edge[1] .. ' ' .. edge[2]] = true
      end
    end
    for _, other in ipairs(wanted) do
      if not is_old[other] then
        Planned.plan_edge(call, unpack(edge_of(other)))
      end
    end
  end
  replan(old_dependencies, wanted_dependencies, function(other)
    return { id, other }
  end, fields.drops_completed)
  replan(old_blocks, wanted_blocks, function(other)
    return { other, id }
  end)
  local removed_count = {} -- task -> number of its removed dependencies
  for _, edge in ipairs(removed) do
    removed_count[edge[1]] = (removed_count[edge[1]] or 0) + 1
  end
  local too_many = Planned.refuse_planned(call, function(other)
    return Edges.count_of_ends(call, 'd', other, completed[other]) - (removed_count[other] or 0)
  end)
  if too_many then
    return too_many
  end
  -- How many bytes longer the new text is.
  local function added_bytes(new, old)
    return new and math.max(0, #new - #(old or '')) or 0
  end
  local bytes = added_bytes(fields.title, task.title)
    + (note and #note + TaskBytes.BYTES_OF_NOTE or 0)
    + #call.added * TaskBytes.BYTES_OF_DEPENDENCY
    + added_bytes(fields.files and cjson.encode(fields.files), task.files and cjson.encode(task.files))
    + (description and added_bytes(description, redis.call('HGET', call.keys.texts, id) or '') or 0)
  local no_room = TaskBytes.refuse_bytes(call, bytes)
  if no_room then
    return no_room
  end
  local ring, is_cut
  if #call.added > 0 then
    ring, is_cut = Rings.ring_of(call, call.added, is_removed, {})
  end
  if is_cut then
    return Rings.refuse_search(call)
  elseif ring then
    return Rings.refuse_ring(call, ring, { [id] = true })
  end

  local change = #call.added > 0 and Planned.link_planned(call, completed) or {}
  for _, edge in ipairs(removed) do
    Planned.unlink(call, edge[1], edge[2])
    if not completed[edge[1]] and not completed[edge[2]] then
      change[edge[1]] = (change[edge[1]] or 0) - 1
    end
  end
  change[id] = change[id] or 0
  task.title, task.priority = fields.title or task.title, fields.priority or task.priority
  task.branch, task.intent_id = fields.branch or task.branch, fields.intent_id or task.intent_id
  if fields.files then
    task.files = #fields.files > 0 and fields.files or nil
  end
  if fields.dependencies then
    task.dependency_order = Planned.order_of(wanted_dependencies)
  end
  if fields.blocks then
    task.block_order = Planned.order_of(wanted_blocks)
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
  for other, difference in pairs(change) do
    local unmet = tonumber(redis.call('HGET', call.keys.unmet, other) or 0) + difference
    Edges.set_unmet(call, other, unmet)
    local changed = other == id and task or Task.load_task(call, other)
    Task.update_queue(call, other, changed, unmet)
  end
  if description then
    if description ~= '' then
      redis.call('HSET', call.keys.texts, id, description)
    else
      redis.call('HDEL', call.keys.texts, id)
    end
  end
  if note then
    Notes.add_note(call, id, note, call.member)
  end
  Offers.save(call)
  Task.emit_task(call, 'task_updated', id, task, call.member.handle, call.member.login)
  Renewals.renew(call)
  return Team.reply(call, 'UPDATED', View.whole_view(call, id, Task.load_task(call, id)))
end
