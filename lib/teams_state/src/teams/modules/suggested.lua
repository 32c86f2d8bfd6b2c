-- Ready tasks that the caller could do instead.
local Survey = require('locks/survey')

local Suggested = {}

-- Up to three tasks whose files are free, of `teams`, each with `team` in lower case and the `handle` of the caller. A task has `id`,
-- `title`, `team`, `created_by`: handle of the creator, and its `login`. They are tasks of tasks/offers, without those that are reserved
-- for others or of a different branch; `except`: 'TEAM/ID' of a task that is left out, or nil.
function Suggested.tasks(call, teams, neighbor_policy, interface_of, except)
  local MAX_TEAMS, MAX_LOOKED_AT = 3, 8
  local fields, tasks, looked_at = {}, {}, 0
  for index, membership in ipairs(teams) do
    fields[index] = membership.team .. '/+'
  end
  local stored = #fields > 0 and redis.call('HMGET', call.keys.members, unpack(fields)) or {}
  for index, membership in ipairs(teams) do
    for _, offer in ipairs(stored[index] and cjson.decode(stored[index]) or {}) do
      local id, name, task = unpack(offer)
      local is_reserved = task.assignee
        and string.lower(task.assignee) ~= string.lower(membership.handle)
        and (task.reserved or 0) > call.now_ms
      local is_elsewhere = task.files and task.branch and task.branch ~= call.request.branch
      if not is_reserved and not is_elsewhere and membership.team .. '/' .. id ~= except then
        if #tasks == MAX_TEAMS or looked_at == MAX_LOOKED_AT then
          return tasks
        end
        looked_at = looked_at + 1
        local findings, is_blocked = {}, false
        if task.files then
          findings, is_blocked = Survey.of(call, task.files, 'WRITING', neighbor_policy, interface_of)
        end
        if not findings then
          -- There are too many locks to look at more.
          return tasks
        elseif not is_blocked then
          tasks[#tasks + 1] = { id = id, title = task.title, team = name, created_by = task.by, login = task.by_login }
        end
      end
    end
  end
  return tasks
end

return Suggested
