-- Free files that the caller can write instead of blocked ones.
local Adjacency = require('builds/adjacency')
local Chunks = require('chunks')
local Queue = require('locks/queue')
local Survey = require('locks/survey')

local FreeFiles = {}

-- Up to MAX_FILES files near `paths` in the import graph, files of the same folders first, that are free and have no neighbor being
-- written. A claim of any one of them, with the same declaration about its interface, would be granted.
function FreeFiles.near(call, paths, neighbor_policy, interface_of)
  local MAX_FILES, MAX_LOOKED_AT, MAX_PATHS, MAX_TEXTS, MAX_CANDIDATES, MAX_LINES = 5, 12, 4, 32, 256, 4000
  local is_visited, folders, nearby, lines = {}, {}, {}, 0
  local function folder_of(path)
    return string.match(path, '^(.*)/[^/]*$') or ''
  end
  for _, path in ipairs(paths) do
    is_visited[path], folders[folder_of(path)] = true, true
  end
  -- Adds the neighbors of these files that their own texts list.
  local function add_neighbors(files)
    if #files == 0 then
      return
    end
    Adjacency.each_text(call, files, function(text)
      if not text then
        return true
      end
      lines = lines + #text / Adjacency.BYTES_OF_LINE
      Adjacency.each_neighbor(text, function(_, path)
        lines = lines + 1
        if not is_visited[path] and #nearby < MAX_CANDIDATES and lines < MAX_LINES then
          is_visited[path] = true
          nearby[#nearby + 1] = path
        end
      end)
      return lines < MAX_LINES and #nearby < MAX_CANDIDATES
    end)
  end
  add_neighbors(Chunks.slice(paths, 1, math.min(#paths, MAX_PATHS)))
  add_neighbors(Chunks.slice(nearby, 1, math.min(#nearby, MAX_TEXTS)))
  local candidates = {}
  for _, is_same_folder in ipairs({ true, false }) do
    for _, path in ipairs(nearby) do
      if (folders[folder_of(path)] or false) == is_same_folder then
        candidates[#candidates + 1] = path
      end
    end
  end
  local free = {}
  for index = 1, math.min(#candidates, MAX_LOOKED_AT) do
    local findings, is_blocked, _, own = Survey.of(call, { candidates[index] }, 'WRITING', neighbor_policy, interface_of)
    if not findings or #free == MAX_FILES then
      break
    end
    local is_queued_for = call.request.queue and Queue.count_before(call) > 0
    if not is_blocked and not own[candidates[index]] and not is_queued_for then
      free[#free + 1] = candidates[index]
    end
  end
  return free
end

return FreeFiles
