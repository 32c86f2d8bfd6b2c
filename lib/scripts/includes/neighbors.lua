-- Files next to the requested ones in the import graph that may be locked. A neighbour is a file that imports mine or that
-- mine imports. Needs: locks_key, adjacency_key, is_stored (after load_entries).
--
-- The adjacency of a file is text: a count and a newline, then one line a neighbour, '>' and a file that it imports or '<'
-- and a file that imports it. A hub, a file with very many neighbours, has 'B', its count, ':' and its number of chunks; then
-- only the lines of neighbours that are hubs too. All its lines are in the chunks, fields PATH .. '\n' .. number. So every
-- neighbour can be seen from the smaller side: from the hub's chunks, or from the adjacency of what is held. '>' lines come
-- before '<' lines, so that of two files that import each other the answer is the same from either side.

-- Calls `visit(sign, neighbor)` for every line of an adjacency or a chunk.
local function each_neighbor(text, visit)
  for sign, neighbor in string.gmatch(text, '([<>])([^\n]+)') do
    visit(sign, neighbor)
  end
end

-- Calls `visit(sign, neighbor)` for every line of the hub at `path`.
local function each_neighbor_of_hub(path, chunks, visit)
  local fields = {}
  for number = 1, chunks do
    fields[number] = path .. '\n' .. number
  end
  for first = 1, chunks, CHUNK do
    local texts = redis.call('HMGET', adjacency_key, unpack(fields, first, math.min(first + CHUNK - 1, chunks)))
    for _, text in ipairs(texts) do
      if text then
        each_neighbor(text, visit)
      end
    end
  end
end

-- The adjacency texts of `paths`, by path; nothing where the graph does not have the file. A path may hold a newline and so
-- name a chunk of a hub; a chunk has no count.
local function adjacency_of(paths)
  local texts = {}
  for first = 1, #paths, CHUNK do
    local last = math.min(first + CHUNK - 1, #paths)
    local values = redis.call('HMGET', adjacency_key, unpack(paths, first, last))
    for offset = 1, last - first + 1 do
      local text = values[offset]
      if text and string.find(text, '^B?%d') then
        texts[paths[first + offset - 1]] = text
      end
    end
  end
  return texts
end

-- Neighbours of `paths` that may be locked: a list of { path, via = requested file, sign }. Each once, none of `paths`.
-- Looks at the smaller side: the neighbours, or what is held.
local function neighbors_to_look_at(paths)
  local requested, stored_here = {}, 0
  for _, path in ipairs(paths) do
    requested[path] = true
    if is_stored[path] then
      stored_here = stored_here + 1
    end
  end
  local held_count = redis.call('HLEN', locks_key)
  if held_count <= stored_here then
    return {}
  end

  local texts = adjacency_of(paths)
  local neighbor_count = 0
  for _, text in pairs(texts) do
    neighbor_count = neighbor_count + tonumber(string.match(text, '%d+'))
  end
  if neighbor_count == 0 then
    return {}
  end

  -- Read only where there are more neighbours than locks.
  local held, is_held
  if neighbor_count > held_count then
    held, is_held = redis.call('HKEYS', locks_key), {}
    for _, path in ipairs(held) do
      is_held[path] = true
    end
  end

  local found, is_found = {}, {}
  local function add(via, sign, path)
    if not requested[path] and not is_found[path] and (not is_held or is_held[path]) then
      is_found[path] = true
      found[#found + 1] = { path = path, via = via, sign = sign }
    end
  end

  local held_texts -- adjacency of what is held; read for the first hub that needs it
  for _, via in ipairs(paths) do
    local text = texts[via]
    local function visit(sign, path)
      add(via, sign, path)
    end
    if text then
      local hub_count, chunks = string.match(text, '^B(%d+):(%d+)')
      if not hub_count then
        if held and tonumber(string.match(text, '^%d+')) > #held then
          for _, path in ipairs(held) do
            for _, sign in ipairs({ '>', '<' }) do
              if string.find(text, '\n' .. sign .. path .. '\n', 1, true) then
                add(via, sign, path)
              end
            end
          end
        else
          each_neighbor(text, visit)
        end
      elseif held and tonumber(hub_count) > #held then
        each_neighbor(text, visit)
        held_texts = held_texts or adjacency_of(held)
        for _, path in ipairs(held) do
          local other = held_texts[path]
          -- Seen from the other end: who imports the hub is its importer.
          if other and string.find(other, '\n<' .. via .. '\n', 1, true) then
            add(via, '>', path)
          elseif other and string.find(other, '\n>' .. via .. '\n', 1, true) then
            add(via, '<', path)
          end
        end
      else
        each_neighbor_of_hub(via, tonumber(chunks), visit)
      end
    end
  end
  return found
end
