-- Neighbors of the requested files in the import graph that may be locked. A neighbor imports a requested file, or is
-- imported by one. The search starts from the smaller side: the neighbors, or the locked files.
local Adjacency = require('builds/adjacency')

local Neighbors = {}

-- A search for one path in a text costs a hundredth of reading its lines.
local LINES_OF_SEARCH = 100

-- Calls `add(order, sign, neighbor)` for the neighbors of `file`, which is not a hub; with a list `targets`, only for those in it.
-- False if there is too much to read.
local function add_neighbors_of_file(call, file, targets, add)
  local searches = targets and #targets * 2 * (1 + file.lines / LINES_OF_SEARCH) or math.huge
  if searches >= file.lines then
    Adjacency.each_neighbor(file.text, function(sign, path)
      add(file.order, sign, path)
    end)
    return Adjacency.spend(call, file.lines)
  end
  for _, path in ipairs(targets) do
    for _, sign in ipairs({ '>', '<' }) do
      if string.find(file.text, '\n' .. sign .. path .. '\n', 1, true) then
        add(file.order, sign, path)
      end
    end
  end
  return Adjacency.spend(call, searches)
end

-- The same for all `hubs`.
local function add_neighbors_of_hubs(call, hubs, targets, add)
  local hub_lines, hub_of = 0, {}
  for _, hub in ipairs(hubs) do
    hub_lines = hub_lines + hub.lines
    hub_of[hub.path] = hub
  end

  -- Reads the text of each target once, however many hubs there are. Stops, with false, after `most` lines.
  local function search_from_targets(most)
    local least_left = call.lines_left - most
    return Adjacency.each_text(call, targets, function(text, path)
      if not text or not string.find(text, '^B?%d') then
        return call.lines_left >= least_left
      end
      -- A hub's text has fewer lines than its count.
      local lines = math.min(tonumber(string.match(text, '%d+')), #text / 2)
      local searches = #hubs * 2 * (1 + lines / LINES_OF_SEARCH)
      if searches < lines then
        for _, hub in ipairs(hubs) do
          -- Seen from the other end, so the direction is reversed.
          if string.find(text, '\n<' .. hub.path .. '\n', 1, true) then
            add(hub.order, '>', path)
          elseif string.find(text, '\n>' .. hub.path .. '\n', 1, true) then
            add(hub.order, '<', path)
          end
        end
      else
        Adjacency.each_neighbor(text, function(sign, neighbor)
          if hub_of[neighbor] then
            add(hub_of[neighbor].order, sign == '<' and '>' or '<', path)
          end
        end)
      end
      Adjacency.spend(call, 1 + math.min(searches, lines) + #text / Adjacency.BYTES_OF_LINE)
      return call.lines_left >= least_left
    end)
  end
  if targets and hub_lines > #targets then
    -- If the hubs themselves can be read, enough lines must be left for that.
    local can_read_hubs = hub_lines <= call.lines_left / 2
    if search_from_targets(can_read_hubs and math.min(hub_lines * 2, call.lines_left - hub_lines) or call.lines_left) then
      return true
    end
  end
  for _, hub in ipairs(hubs) do
    local is_read = Adjacency.each_neighbor_of_hub(call, hub.path, hub.chunks, function(sign, path)
      add(hub.order, sign, path)
    end)
    if not is_read then
      return false
    end
  end
  return true
end

-- call.all_held, call.is_held_file: the locked files, once they were read: list of files, and file path -> true

-- Finds the neighbors of `paths` that may be locked; `stored` is the number of `paths` with stored entries. Returns a list of files,
-- without `paths`, in the order of the requested files that they are neighbors of; and the rank of each: twice the order of the first
-- requested file that it is a neighbor of, plus one if it imports that file. Nil if there are too many to read. With a list `among`, it
-- looks for these files instead of locked ones.
function Neighbors.find(call, paths, stored, among)
  local target_count = among and #among or redis.call('HLEN', call.keys.locks)
  if target_count <= stored then
    return {}
  end
  local files, hubs, lines, is_requested = {}, {}, 0, {}
  local is_read = Adjacency.each_text(call, paths, function(text, path, order)
    is_requested[path] = true
    call.is_tracked[path] = text and true
    local hub, count, chunks = string.match(text or '', '^(B?)(%d+):?(%d*)')
    if not hub then
      return true
    end
    local list = hub == 'B' and hubs or files
    list[#list + 1] = { path = path, order = order, text = text, lines = tonumber(count), chunks = tonumber(chunks) }
    lines, call.is_tracked[path] = lines + tonumber(count), tonumber(count)
    return Adjacency.spend(call, #text / Adjacency.BYTES_OF_LINE)
  end)
  if not is_read then
    return nil
  elseif lines == 0 then
    return {}
  end

  -- The locked files are read only if there are more neighbors than locks.
  local targets, is_target = among, among and {}
  for _, path in ipairs(among or {}) do
    is_target[path] = true
  end
  if not among and lines > target_count then
    if not call.all_held then
      call.all_held, call.is_held_file = redis.call('HKEYS', call.keys.locks), {}
      for _, path in ipairs(call.all_held) do
        call.is_held_file[path] = true
      end
    end
    targets, is_target = call.all_held, call.is_held_file
  end
  local neighbors, rank_of = {}, {}
  local function add(order, sign, path)
    if is_requested[path] or (is_target and not is_target[path]) then
      return
    end
    local rank, previous = 2 * order + (sign == '<' and 1 or 0), rank_of[path]
    if not previous then
      neighbors[#neighbors + 1] = path
    end
    if not previous or rank < previous then
      rank_of[path] = rank
    end
  end
  for _, file in ipairs(files) do
    if not add_neighbors_of_file(call, file, targets, add) then
      return nil
    end
  end
  if #hubs == 0 then
    return neighbors, rank_of
  elseif not add_neighbors_of_hubs(call, hubs, targets, add) then
    return nil
  end
  local by_order, in_order = {}, {}
  for _, path in ipairs(neighbors) do
    local order = math.floor(rank_of[path] / 2)
    by_order[order] = by_order[order] or {}
    table.insert(by_order[order], path)
  end
  for order = 1, #paths do
    for _, path in ipairs(by_order[order] or {}) do
      in_order[#in_order + 1] = path
    end
  end
  return in_order, rank_of
end

return Neighbors
