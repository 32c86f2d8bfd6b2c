-- Undoes the ownership by a claim, if the work is abandoned.
local Chunks = require('chunks')
local Owners = require('intents/owners')
local Records = require('intents/records')

local Abandoned = {}

-- Whether another of `entries` than `mine` has a branch in common with `branch`.
local function has_other_on(entries, mine, branch)
  for _, entry in ipairs(entries) do
    if entry ~= mine and Owners.have_common_branch(entry.branch, branch) then
      return true
    end
  end
  return false
end

-- Removes the intents of these lock entries from the owners of their files if the content is as when the claim was granted:
-- the owner before, if there was one, has the file again.
function Abandoned.give_up(call, locks)
  Records.begin(call)
  local paths, changed, emptied = {}, {}, {}
  for index, lock in ipairs(locks) do
    paths[index] = lock.file_path
  end
  local owners = Owners.of(call, paths)
  for _, lock in ipairs(locks) do
    local path = lock.file_path
    local entries = owners[path]
    for index, mine in ipairs(entries) do
      if mine.intent == lock.intent_id and mine.hash == mine.since then
        if mine.from then
          if not has_other_on(entries, mine, mine.from_branch) then
            mine.branch = mine.from_branch
          end
          mine.intent, mine.from, mine.from_branch, mine.since = mine.from, nil, nil, nil
        else
          table.remove(entries, index)
        end
        if #entries > 0 then
          changed[#changed + 1] = path
          changed[#changed + 1] = cjson.encode(entries)
        else
          emptied[#emptied + 1] = path
        end
        break
      end
    end
  end
  Chunks.call_in_chunks('HSET', call.keys.owners, changed)
  Chunks.call_in_chunks('HDEL', call.keys.owners, emptied)
end

return Abandoned
