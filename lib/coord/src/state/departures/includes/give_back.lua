-- Tasks of members that stop. Needs: team.
-- @include chunks
-- @include tasks/task
-- @include tasks/notes
-- @include tasks/bytes

-- Ends all claims of the members, with a note, and keeps no task for them any more; returns the ids of what they had claimed. Only
-- the events take commands for each task. The caller saves the members.
local function give_back_of(records, text)
  local named, tasks = {}, {}
  for _, record in ipairs(records) do
    for id in string.gmatch(record.claims .. ' ' .. record.assigned, '%S+') do
      named[#named + 1] = id
    end
  end
  for index, stored in ipairs(values_of(keys.tasks, named)) do
    tasks[named[index]] = stored and cjson.decode(stored) or nil
  end

  local ids, note_fields, owners, not_kept = {}, {}, {}, {}
  for _, record in ipairs(records) do
    for id in string.gmatch(record.claims, '%S+') do
      local task = tasks[id]
      if task and task.status == 'in_progress' and task.owner and not is_held(task) then
        end_one_claim(id, task, 'LAPSED')
      elseif task and is_owned_by(task, record) then
        -- Their locks stay until they expire: nobody knows whether the work is pushed.
        task.locked = nil
        ids[#ids + 1], note_fields[#note_fields + 1], owners[id] = id, id .. ' notes', { note_end(task, 'RELEASED') }
      end
    end
    -- Another login may join under the handle.
    for id in string.gmatch(record.claims .. ' ' .. record.assigned, '%S+') do
      local task = tasks[id]
      if task and task.status ~= 'completed' and task.assignee and string.lower(task.assignee) == string.lower(record.handle) then
        task.assignee, task.reserved, task.updated = nil, nil, now_ms
        not_kept[#not_kept + 1] = id
      end
    end
    record.claims, record.assigned, record.renew_at = '', '', nil
  end

  local changed, texts, ready = {}, {}, {}
  local notes, unmet = values_of(keys.texts, note_fields), values_of(keys.unmet, ids)
  for index, id in ipairs(ids) do
    local with_note = noted(notes[index], text)
    if with_note then
      texts[#texts + 1] = note_fields[index]
      texts[#texts + 1] = with_note
      add_bytes(tasks[id], #text + BYTES_OF_NOTE)
    end
    changed[#changed + 1] = id
    changed[#changed + 1] = cjson.encode(tasks[id])
    local place = place_of(tasks[id], tonumber(unmet[index] or 0))
    if place then
      ready[#ready + 1] = place
      ready[#ready + 1] = id
    end
  end
  for _, id in ipairs(not_kept) do
    changed[#changed + 1] = id
    changed[#changed + 1] = cjson.encode(tasks[id])
  end
  call_in_chunks('HSET', keys.tasks, changed)
  call_in_chunks('HSET', keys.texts, texts)
  count_bytes('bytes', request.user_id, #texts / 2 * (#text + BYTES_OF_NOTE))
  call_in_chunks('ZADD', keys.ready, ready)
  call_in_chunks('ZREM', keys.leases, ids)
  save_offers()
  for _, id in ipairs(ids) do
    emit_task('task_released', id, tasks[id], unpack(owners[id]))
  end
  for _, id in ipairs(not_kept) do
    if not owners[id] then
      emit_task('task_updated', id, tasks[id], member.handle, member.login)
    end
  end
  return ids
end

local function give_back(record, text)
  return give_back_of({ record }, text)
end
