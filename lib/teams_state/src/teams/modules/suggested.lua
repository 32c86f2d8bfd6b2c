-- Ready tasks that the caller could do instead.
local Survey = require('locks/survey')

local Suggested = {}

-- Up to three of `teams`, each with `team` in lower case and the `handle` of the caller, whose files are free: `id`, `title`, `team`,
-- `created_by`: handle of the creator, and its `login`. They are those of tasks/offers that are not kept for others, and not of another branch; `except`: 'TEAM/ID' that
-- is left out, or nil.
function Suggested.tasks(call, teams, neighbor_policy, interface_of, except)
  local MOST, MOST_LOOKED_AT = 3, 8
  local fields, found, looked_at = {}, {}, 0
  for index, one in ipairs(teams) do
    fields[index] = one.team .. '/+'
  end
  local stored = #fields > 0 and redis.call('HMGET', call.keys.members, unpack(fields)) or {}
  for index, one in ipairs(teams) do
    for _, offer in ipairs(stored[index] and cjson.decode(stored[index]) or {}) do
      local id, name, task = unpack(offer)
      local is_kept = task.assignee and string.lower(task.assignee) ~= string.lower(one.handle) and (task.reserved or 0) > call.now_ms
      local is_elsewhere = task.files and task.branch and task.branch ~= call.request.branch
      if not is_kept and not is_elsewhere and one.team .. '/' .. id ~= except then
        if #found == MOST or looked_at == MOST_LOOKED_AT then
          return found
        end
        looked_at = looked_at + 1
        local findings, is_blocked = {}, false
        if task.files then
          findings, is_blocked = Survey.of(call, task.files, 'WRITING', neighbor_policy, interface_of)
        end
        if not findings then
          -- There are too many locks to look at more.
          return found
        elseif not is_blocked then
          found[#found + 1] = { id = id, title = task.title, team = name, created_by = task.by, login = task.by_login }
        end
      end
    end
  end
  return found
end

return Suggested
