-- Pending changes: files that were released on a work branch, and are not yet on the branch that they are for. Fields of keys.pending:
--   file path -> JSON array, for all branches: the lock entry as it was released, with `work_branch`, `agent_head`: the pushed commit,
--     `blob`: the file at that commit, '' if it is gone, `expiry` of the change, `pull_request`, if that is known, and
--     `interface_differs`: how its interface differs from the branch
--   a line feed and a login -> number of that person's changes; a line feed -> number of all
--   two line feeds and a branch -> a line for each change with `interface_differs`: login, tab and file
--   both branches, each after a line feed -> number of the open pull request
-- The graph's hash has `pending` if the branch may have pending changes, so that requests for other branches do not pay for them.
local Pending = {}

-- Parses `value`, stored under a file: the live changes, and the expired ones.
function Pending.parse(call, value)
  local live, expired = {}, {}
  for _, entry in ipairs(value and cjson.decode(value) or {}) do
    table.insert(entry.expiry > call.now and live or expired, entry)
  end
  return live, expired
end

-- Whether `value` may have a change on the work branch. It searches the text that cjson writes: among thousands of values, that is much
-- cheaper than decoding.
function Pending.may_be_on(value, work_branch)
  return string.find(value, '"work_branch":' .. cjson.encode(work_branch), 1, true) ~= nil
end

-- Stores `entries` of `path`, and counts the `added` and `removed` ones.
function Pending.store(call, path, entries, added, removed)
  if #entries == 0 then
    redis.call('HDEL', call.keys.pending, path)
  else
    redis.call('HSET', call.keys.pending, path, cjson.encode(entries))
  end
  for _, changed in ipairs({ { added, 1 }, { removed, -1 } }) do
    for _, entry in ipairs(changed[1]) do
      for _, field in ipairs({ '\n', '\n' .. entry.user_id }) do
        if redis.call('HINCRBY', call.keys.pending, field, changed[2]) <= 0 then
          redis.call('HDEL', call.keys.pending, field)
        end
      end
    end
  end
end

-- The field with the files whose pending changes for the branch change their interfaces.
function Pending.interfaces_field(branch)
  return '\n\n' .. branch
end

-- These files, the newest first. Some of the changes may have ended.
function Pending.files_with_interface_changes(call, branch)
  local files = {}
  for path in string.gmatch(redis.call('HGET', call.keys.pending, Pending.interfaces_field(branch)) or '', '\t([^\n]+)') do
    files[#files + 1] = path
  end
  return files
end

-- Adds `lines`, each a login, a tab and a file. The oldest lines make room; of a person who has used up its share, its own oldest.
function Pending.note_interfaces(call, branch, lines)
  local MAX_CHANGES, MAX_PER_PERSON, kept, is_kept, count_of = 256, 128, {}, {}, {}
  local stored = redis.call('HGET', call.keys.pending, Pending.interfaces_field(branch)) or ''
  for user, path in string.gmatch(table.concat(lines, '\n') .. '\n' .. stored, '([^\t\n]+)\t([^\n]+)') do
    local count = count_of[user] or 0
    if not is_kept[path] and #kept < MAX_CHANGES and count < MAX_PER_PERSON then
      kept[#kept + 1], is_kept[path], count_of[user] = user .. '\t' .. path, true, count + 1
    end
  end
  redis.call('HSET', call.keys.pending, Pending.interfaces_field(branch), table.concat(kept, '\n'))
end

return Pending
