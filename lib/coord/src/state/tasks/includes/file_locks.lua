-- Locks that were claimed with a task: they last as long as its claim. Each has `task`: TEAM/ID, the team in lower case. Needs: team.
-- @include locks/changes

local function task_name(id)
  return team_key .. '/' .. id
end

-- Whether a lock is of an agent that has the caller's handle, or had it before.
local function is_of_handle(entry)
  local is_mine = is_own(entry)
  for _, agent in ipairs(entry.user_id == request.user_id and member.before or {}) do
    is_mine = is_mine or (entry.agent_id or '') == agent
  end
  return is_mine
end

-- The caller's locks that were claimed with the task; nil if there are too many locks on its files. Those of an agent that had the
-- caller's handle before are the caller's. `before`: the agent from which the caller takes the handle over, or nil; then its locks
-- for writing on files of the task are found too, and are of the task.
local function locks_of(id, task, before)
  if not load_entries(task.files, MOST_AT_ONCE) then
    return nil
  end
  local found, name = {}, task_name(id)
  for _, path in ipairs(task.files) do
    for _, entry in ipairs(entries_of[path]) do
      local is_left = before == (entry.agent_id or '') and entry.branch == task.locked and entry.status == 'WRITING'
      if (entry.task == name or is_left) and is_of_handle(entry) then
        if not is_own(entry) then
          entry.agent_id, entry.task = request.agent_id ~= '' and request.agent_id or nil, name
          is_changed[path] = true
        end
        found[#found + 1] = entry
      end
    end
  end
  return found
end

-- Renews the locks of a task until `expires` (Unix milliseconds), and adds them to `renewed`. False if there are too many on its files.
local function renew_locks(id, task, expires, renewed)
  if not task.locked or not task.files then
    return true
  end
  local locks = locks_of(id, task)
  for _, entry in ipairs(locks or {}) do
    if entry.expiry_ms < expires then
      entry.timestamp, entry.expiry_ms, entry.expiry = now, expires, math.floor(expires / 1000)
      is_changed[entry.file_path] = true
      renewed[#renewed + 1] = entry
    end
  end
  return locks ~= nil
end

-- Writes renewed locks.
local function save_renewed(renewed)
  save_entries()
  emit_by_claim('lock_renewed', renewed)
end

-- The locks of a task that ends stay the caller's, and are of no task any more. Returns their files.
local function keep_locks(id, task)
  local kept = {}
  for _, entry in ipairs(task.locked and task.files and locks_of(id, task) or {}) do
    entry.task, is_changed[entry.file_path] = nil, true
    kept[#kept + 1] = entry.file_path
  end
  save_entries()
  return kept
end
