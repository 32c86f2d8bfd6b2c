-- Tasks of members that stop.
local Chunks = require('chunks')
local Notes = require('tasks/notes')
local Offers = require('tasks/offers')
local Task = require('tasks/task')
local TaskBytes = require('tasks/bytes')
local TeamBytes = require('teams/bytes')

local TaskRelease = {}

-- Ends all claims of the members, with a note, and their reservations; returns the ids of their claimed tasks. Only the events
-- take commands for each task. The calling code saves the members.
function TaskRelease.release_all(call, records, text)
  local named, tasks = {}, {}
  for _, record in ipairs(records) do
    for id in string.gmatch(record.claims .. ' ' .. record.assigned, '%S+') do
      named[#named + 1] = id
    end
  end
  for index, stored in ipairs(Chunks.values_of(call.keys.tasks, named)) do
    tasks[named[index]] = stored and cjson.decode(stored) or nil
  end

  local ids, note_fields, owners, unassigned = {}, {}, {}, {}
  for _, record in ipairs(records) do
    for id in string.gmatch(record.claims, '%S+') do
      local task = tasks[id]
      if task and task.status == 'in_progress' and task.owner and not Task.is_held(call, task) then
        Task.end_one_claim(call, id, task, 'LAPSED')
      elseif task and Task.is_owned_by(call, task, record) then
        -- The locks stay until they expire: it is unknown whether the work is pushed.
        task.locked = nil
        ids[#ids + 1], note_fields[#note_fields + 1], owners[id] = id, id .. ' notes', { Task.note_end(call, task, 'RELEASED') }
      end
    end
    -- Another login may join under the handle.
    for id in string.gmatch(record.claims .. ' ' .. record.assigned, '%S+') do
      local task = tasks[id]
      if task and task.status ~= 'completed' and task.assignee and string.lower(task.assignee) == string.lower(record.handle) then
        task.assignee, task.reserved, task.updated = nil, nil, call.now_ms
        unassigned[#unassigned + 1] = id
      end
    end
    record.claims, record.assigned, record.renew_at = '', '', nil
  end

  local changed, texts, ready = {}, {}, {}
  local notes, unmet = Chunks.values_of(call.keys.texts, note_fields), Chunks.values_of(call.keys.unmet, ids)
  for index, id in ipairs(ids) do
    local new_notes = Notes.with_note(call, notes[index], text)
    if new_notes then
      texts[#texts + 1] = note_fields[index]
      texts[#texts + 1] = new_notes
      TaskBytes.add_bytes(call, tasks[id], #text + TaskBytes.BYTES_OF_NOTE)
    end
    changed[#changed + 1] = id
    changed[#changed + 1] = cjson.encode(tasks[id])
    local score = Task.queue_score(tasks[id], tonumber(unmet[index] or 0))
    if score then
      ready[#ready + 1] = score
      ready[#ready + 1] = id
    end
  end
  for _, id in ipairs(unassigned) do
    changed[#changed + 1] = id
    changed[#changed + 1] = cjson.encode(tasks[id])
  end
  Chunks.call_in_chunks('HSET', call.keys.tasks, changed)
  Chunks.call_in_chunks('HSET', call.keys.texts, texts)
  TeamBytes.count_bytes(call, 'bytes', call.request.user_id, #texts / 2 * (#text + TaskBytes.BYTES_OF_NOTE))
  Chunks.call_in_chunks('ZADD', call.keys.ready, ready)
  Chunks.call_in_chunks('ZREM', call.keys.leases, ids)
  Offers.save(call)
  for _, id in ipairs(ids) do
    Task.emit_task(call, 'task_released', id, tasks[id], unpack(owners[id]))
  end
  for _, id in ipairs(unassigned) do
    if not owners[id] then
      Task.emit_task(call, 'task_updated', id, tasks[id], call.member.handle, call.member.login)
    end
  end
  return ids
end

function TaskRelease.release(call, record, text)
  return TaskRelease.release_all(call, { record }, text)
end

return TaskRelease
