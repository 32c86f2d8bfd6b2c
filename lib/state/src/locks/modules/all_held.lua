-- All files that the caller holds on the branch.
local Entries = require('locks/entries')
local Request = require('admission/request')

local AllHeld = {}

-- Reads the entries of these files, and returns the files, sorted; nil if there are too many entries. The locks are not read for a
-- caller that holds nothing in the repository; else there are at most as many as a repository may have.
function AllHeld.load(call)
  local paths = {}
  if not redis.call('HGET', call.keys.held, '@' .. call.request.user_id) then
    return paths
  end
  local by_caller = Entries.field('user_id', call.request.user_id)
  local stored = redis.call('HGETALL', call.keys.locks)
  for index = 1, #stored, 2 do
    local path, value = stored[index], stored[index + 1]
    if Entries.any_has(value, by_caller) then
      local entries, is_held = cjson.decode(value), false
      for _, entry in ipairs(entries) do
        is_held = is_held or (entry.branch == call.request.branch and Request.is_own(call, entry) and not Entries.has_expired(call, entry))
      end
      if is_held then
        paths[#paths + 1] = path
        Entries.load_value(call, path, value, entries)
      end
      if call.loaded > Entries.MAX_AT_ONCE then
        return nil
      end
    end
  end
  table.sort(paths)
  return paths
end

return AllHeld
