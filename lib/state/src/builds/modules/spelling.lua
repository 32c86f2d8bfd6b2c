-- Requested paths that differ from tracked ones in case only. The adjacency has, in fields of a newline and three hex
-- digits, a line for each tracked file: eight digits, and its path from the first component on that is not in lower case.
local BuildSpelling = {}

local LOOKUP, MOST_SPELLINGS = 15, 4

-- `lookups`: for each of `paths` the digits of its field, those of its line, and in four more the length of its path
-- from the first component on that is not in lower case. Returns paths that are not tracked: `file_path`, and `ends` of
-- the tracked spellings, each followed by a newline; absent for a new file.
function BuildSpelling.other_spellings(call, paths, lookups)
  local fields, places, found = {}, {}, {}
  for index = 1, #paths do
    if not call.is_tracked[paths[index]] then
      local at = (index - 1) * LOOKUP
      fields[#fields + 1] = '\n' .. string.sub(lookups, at + 1, at + 3)
      places[#places + 1] = index
    end
  end
  if #fields == 0 then
    return found
  end
  local texts = redis.call('HMGET', call.keys.adjacency, unpack(fields))
  for number, index in ipairs(places) do
    local path, text, at = paths[index], texts[number], (index - 1) * LOOKUP
    local line = '\n' .. string.sub(lookups, at + 4, at + 11)
    local _, first = string.find(text or '', line, 1, true)
    local own = tonumber(string.sub(lookups, at + 12, at + 15), 16)
    if not first then
      found[#found + 1] = { file_path = path }
    elseif not string.find(text, line .. string.sub(path, #path - own + 1) .. '\n', 1, true) then
      local ends = ''
      for _ = 1, MOST_SPELLINGS do
        local last = string.find(text, '\n', first, true)
        ends = ends .. string.sub(text, first + 1, last)
        _, first = string.find(text, line, last, true)
        if not first then
          break
        end
      end
      found[#found + 1] = { file_path = path, ends = ends }
    end
  end
  return found
end

return BuildSpelling
