-- Undoes the ownership that a claim created, if its work is abandoned.
local Chunks = require('chunks')
local Owners = require('intents/owners')
local Records = require('intents/records')

local Abandoned = {}

-- Whether an entry other than `owner` has a branch in common with `branch`.
local function has_other_on(entries, owner, branch)
  for _, entry in ipairs(entries) do
    if entry ~= owner and Owners.have_common_branch(entry.branch, branch) then
      return true
    end
  end
  return false
end

-- Removes the intents of these lock entries from the owners of their files if the content is the same as when the claim was
-- granted. The previous owner, if there was one, owns the file again.
function Abandoned.restore_owners(call, locks)
  Records.begin(call)
  local paths, changed, emptied = {}, {}, {}
  for index, lock in ipairs(locks) do
    paths[index] = lock.file_path
  end
  local owners = Owners.of(call, paths)
  for _, lock in ipairs(locks) do
    local path = lock.file_path
    local entries = owners[path]
    for index, owner in ipairs(entries) do
      if owner.intent == lock.intent_id and owner.hash == owner.since then
        if owner.from then
          if not has_other_on(entries, owner, owner.from_branch) then
            owner.branch = owner.from_branch
          end
          owner.intent, owner.from, owner.from_branch, owner.since = owner.from, nil, nil, nil
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
