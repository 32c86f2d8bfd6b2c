-- Importers of files.
local Adjacency = require('builds/adjacency')

local Importers = {}

-- Maximum lines that are read to find them: a release of many files has much other work.
local IMPORTER_LINES = 50000

-- The first `most` files that import one of `paths`, without `paths` themselves, and the number of all; the third value is
-- true if there are more than could be counted.
function Importers.of(call, paths, most)
  local importers, count, is_seen = {}, 0, {}
  call.lines_left = math.min(call.lines_left, IMPORTER_LINES)
  for _, path in ipairs(paths) do
    is_seen[path] = true
  end
  local function visit(sign, path)
    if sign == '<' and not is_seen[path] then
      is_seen[path] = true
      count = count + 1
      if count <= most then
        importers[count] = path
      end
    end
  end
  local is_all = Adjacency.each_text(call, paths, function(text, path)
    local hub, chunks = string.match(text or '', '^(B?)%d+:?(%d*)')
    if hub == 'B' then
      return Adjacency.each_neighbor_of_hub(call, path, tonumber(chunks), visit)
    end
    return not hub or Adjacency.spend(call, Adjacency.each_neighbor(text, visit) + #text / Adjacency.BYTES_OF_LINE)
  end)
  return importers, count, not is_all
end

return Importers
