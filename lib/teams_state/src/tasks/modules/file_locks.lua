-- Locks that were claimed with a task: they last as long as its claim. Each has `task`: TEAM/ID, the team in lower case.
local Entries = require('locks/entries')
local LockChanges = require('locks/changes')
local Request = require('admission/request')

local FileLocks = {}

function FileLocks.task_name(call, id)
  return call.team_key .. '/' .. id
end

-- Whether a lock belongs to an agent that has the caller's handle, or had it before.
local function is_of_handle(call, entry)
  local is_mine = Request.is_own(call, entry)
  for _, agent in ipairs(entry.user_id == call.request.user_id and call.member.before or {}) do
    is_mine = is_mine or (entry.agent_id or '') == agent
  end
  return is_mine
end

-- The caller's locks that were claimed with the task; nil if there are too many locks on its files. Locks of an agent that had the
-- caller's handle before become the caller's. `old_agent`: the agent from which the caller takes the handle over, or nil; its other
-- locks for writing on files of the task are included, and become locks of the task.
function FileLocks.locks_of(call, id, task, old_agent)
  if not Entries.load(call, task.files, Entries.MAX_AT_ONCE) then
    return nil
  end
  local locks, name = {}, FileLocks.task_name(call, id)
  for _, path in ipairs(task.files) do
    for _, entry in ipairs(call.entries_of[path]) do
      local is_taken_over = old_agent == (entry.agent_id or '') and entry.branch == task.locked and entry.status == 'WRITING'
      if (entry.task == name or is_taken_over) and is_of_handle(call, entry) then
        if not Request.is_own(call, entry) then
          entry.agent_id, entry.task = call.request.agent_id ~= '' and call.request.agent_id or nil, name
          call.is_changed[path] = true
        end
        locks[#locks + 1] = entry
      end
    end
  end
  return locks
end

-- Renews the locks of a task until `expires` (Unix milliseconds), and adds them to `renewed`. False if there are too many on its files.
function FileLocks.renew_locks(call, id, task, expires, renewed)
  if not task.locked or not task.files then
    return true
  end
  local locks = FileLocks.locks_of(call, id, task)
  for _, entry in ipairs(locks or {}) do
    if entry.expiry_ms < expires then
      entry.timestamp, entry.expiry_ms, entry.expiry = call.now, expires, math.floor(expires / 1000)
      call.is_changed[entry.file_path] = true
      renewed[#renewed + 1] = entry
    end
  end
  return locks ~= nil
end

-- Writes renewed locks, and announces them.
function FileLocks.save_renewed(call, renewed)
  LockChanges.save(call)
  LockChanges.emit_by_claim(call, 'lock_renewed', renewed)
end

-- Detaches the locks of a task whose claim ends: they stay the caller's. Returns their files.
function FileLocks.keep_locks(call, id, task)
  local files = {}
  for _, entry in ipairs(task.locked and task.files and FileLocks.locks_of(call, id, task) or {}) do
    entry.task, call.is_changed[entry.file_path] = nil, true
    files[#files + 1] = entry.file_path
  end
  LockChanges.save(call)
  return files
end

return FileLocks
