-- Pending changes as findings of a survey, if the branch may have some.
local GraphAge = require('builds/graph_age')
local Neighbors = require('locks/neighbors')
local Pending = require('locks/pending')
local Request = require('admission/request')

local PendingFindings = {}

-- Changes of `paths` on work branches other than the caller's: blocking findings, and others. `is_writing`: files that the caller
-- already writes. They block only under a policy whose digest ends with `!`.
function PendingFindings.findings(call, paths, wanted, is_writing)
  local blocking, harmless = {}, {}
  local may_block = wanted == 'WRITING' and string.sub(GraphAge.load(call)[4] or '', -1) == '!'
  for index, value in ipairs(redis.call('HMGET', call.keys.pending, unpack(paths))) do
    for _, entry in ipairs(Pending.parse(call, value)) do
      if entry.branch == call.request.branch and entry.work_branch ~= call.request.work_branch then
        local path = paths[index]
        local blocks = may_block and not Request.is_own(call, entry) and not is_writing[path]
        table.insert(blocks and blocking or harmless, { relation = 'PENDING', blocks = blocks, via = path, entry = entry })
      end
    end
  end
  return blocking, harmless
end

-- Interface changes, on other work branches, of files that `paths` import. They block no caller.
function PendingFindings.imported(call, paths)
  local findings, files = {}, Pending.files_with_interface_changes(call, call.request.branch)
  local neighbors, rank_of = {}, {}
  if #files > 0 then
    neighbors, rank_of = Neighbors.find(call, paths, 0, files)
  end
  local imported = {}
  for _, path in ipairs(neighbors or {}) do
    imported[#imported + 1] = rank_of[path] % 2 == 0 and path or nil
  end
  for index, value in ipairs(#imported > 0 and redis.call('HMGET', call.keys.pending, unpack(imported)) or {}) do
    for _, entry in ipairs(Pending.parse(call, value)) do
      local is_other = entry.work_branch ~= call.request.work_branch and not Request.is_own(call, entry)
      if entry.branch == call.request.branch and is_other and entry.interface_differs then
        local via = paths[math.floor(rank_of[imported[index]] / 2)]
        findings[#findings + 1] = { relation = 'PENDING_INTERFACE', blocks = false, via = via, sign = '>', entry = entry }
      end
    end
  end
  return findings
end

return PendingFindings
