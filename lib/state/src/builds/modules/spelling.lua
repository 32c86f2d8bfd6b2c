-- Requested paths that differ from tracked ones only in case. The adjacency has fields whose names are a newline and three
-- hex digits. They have a line for each tracked file: eight digits, and its path from the first component with a capital on.
local BuildSpelling = {}

local LOOKUP, MAX_SPELLINGS = 15, 4

-- `lookups`: for each of `paths` the digits of its field, those of its line, and in four more digits the length of its path
-- from the first component with a capital on. Returns the paths that are not tracked: `file_path`, and `ends` of the
-- tracked spellings, each followed by a newline; absent for a new file.
function BuildSpelling.other_spellings(call, paths, lookups)
  local fields, indices, untracked = {}, {}, {}
  for index = 1, #paths do
    if not call.is_tracked[paths[index]] then
      local offset = (index - 1) * LOOKUP
      fields[#fields + 1] = '\n' .. string.sub(lookups, offset + 1, offset + 3)
      indices[#indices + 1] = index
    end
  end
  if #fields == 0 then
    return untracked
  end
  local texts = redis.call('HMGET', call.keys.adjacency, unpack(fields))
  for number, index in ipairs(indices) do
    local path, text, offset = paths[index], texts[number], (index - 1) * LOOKUP
    local line = '\n' .. string.sub(lookups, offset + 4, offset + 11)
    local _, first = string.find(text or '', line, 1, true)
    local end_length = tonumber(string.sub(lookups, offset + 12, offset + 15), 16)
    if not first then
      untracked[#untracked + 1] = { file_path = path }
    elseif not string.find(text, line .. string.sub(path, #path - end_length + 1) .. '\n', 1, true) then
      local ends = ''
      for _ = 1, MAX_SPELLINGS do
        local last = string.find(text, '\n', first, true)
        ends = ends .. string.sub(text, first + 1, last)
        _, first = string.find(text, line, last, true)
        if not first then
          break
        end
      end
      untracked[#untracked + 1] = { file_path = path, ends = ends }
    end
  end
  return untracked
end

return BuildSpelling
