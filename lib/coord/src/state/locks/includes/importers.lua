-- Importers of files. Needs: keys.adjacency.
-- @include builds/adjacency

-- Maximum lines that are read for them: a release of many files has much other work.
local IMPORTER_LINES = 50000

-- The first `most` files that import one of `paths`, without `paths` themselves, and the number of all; the third value is
-- true if there are more than could be counted.
local function importers_of(paths, most)
  local importers, count, is_seen = {}, 0, {}
  lines_left = math.min(lines_left, IMPORTER_LINES)
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
  local is_all = each_text(paths, function(text, path)
    local hub, chunks = string.match(text or '', '^(B?)%d+:?(%d*)')
    if hub == 'B' then
      return each_neighbor_of_hub(path, tonumber(chunks), visit)
    end
    return not hub or spend(each_neighbor(text, visit) + #text / BYTES_OF_LINE)
  end)
  return importers, count, not is_all
end
