-- Files next to the requested ones in the import graph that may be locked. A neighbor is a file that imports mine or that
-- mine imports. Needs: locks_key, adjacency_key, is_stored (after load_entries).
--
-- The adjacency of a file is text: a count and a newline, then one line a neighbor, '>' and a file that it imports or '<'
-- and a file that imports it. A hub, a file with very many neighbors, has 'B', its count, ':' and its number of chunks; then
-- only the lines of neighbors that are hubs too. All its lines are in the chunks, fields PATH .. '\n' .. number. So every
-- neighbor can be seen from the smaller side: from the hub's chunks, or from the adjacency of what is held. '>' lines come
-- before '<' lines, so that of two files that import each other the answer is the same from either side.
--
-- The work of one script is bounded: it reads at most MOST_LINES lines, and BYTES_OF_LINE bytes of text count as a line. A
-- search for one path in a text costs a hundredth of reading its lines.
local MOST_LINES, BYTES_OF_LINE, LINES_OF_SEARCH = 100000, 256, 100
local lines_left = MOST_LINES
-- Adjacency texts fetched by one command: what is fetched is known to be too much only when it is there.
local TEXTS_AT_ONCE = 256

-- Notes that `lines` were read; false where that is too much.
local function spend(lines)
  lines_left = lines_left - lines
  return lines_left >= 0
end

-- Calls `visit(sign, neighbor)` for every line of an adjacency or a chunk; gives how many there are.
local function each_neighbor(text, visit)
  local lines = 0
  for sign, neighbor in string.gmatch(text, '([<>])([^\n]+)') do
    lines = lines + 1
    visit(sign, neighbor)
  end
  return lines
end

-- Calls `visit(text)` for the fields `names` of the adjacency, in their order, false for one that is not there. Ends early,
-- with false, where `visit` gives false.
local function each_text(names, visit)
  for first = 1, #names, TEXTS_AT_ONCE do
    local last = math.min(first + TEXTS_AT_ONCE - 1, #names)
    local texts = redis.call('HMGET', adjacency_key, unpack(names, first, last))
    for offset = 1, last - first + 1 do
      if visit(texts[offset], names[first + offset - 1]) == false then
        return false
      end
    end
  end
  return true
end

-- Calls `visit(sign, neighbor)` for every line of the hub at `path`; false where those are too many.
local function each_neighbor_of_hub(path, chunks, visit)
  local fields = {}
  for number = 1, chunks do
    fields[number] = path .. '\n' .. number
  end
  return each_text(fields, function(text)
    return spend(text and each_neighbor(text, visit) + #text / BYTES_OF_LINE or 1)
  end)
end

-- The adjacency texts of `paths`, by path; nothing where the graph does not have the file. A path may hold a newline and so
-- name a chunk of a hub; a chunk has no count. False where they are too long to be read.
local function adjacency_of(paths)
  local texts = {}
  local is_read = each_text(paths, function(text, path)
    if text and string.find(text, '^B?%d') then
      texts[path] = text
      return spend(#text / BYTES_OF_LINE)
    end
  end)
  return is_read and texts
end

-- Neighbors of `paths` that may be locked: a list of { path, via = requested file, sign }, by the order of `paths`. Each once,
-- under the first of its requested files; none of `paths`. Nil where there are too many to look at.
-- Looks at the smaller side: the neighbors, or what is held.
local function neighbors_to_look_at(paths)
  local order_of, stored_here = {}, 0
  for order, path in ipairs(paths) do
    order_of[path] = order
    if is_stored[path] then
      stored_here = stored_here + 1
    end
  end
  local held_count = redis.call('HLEN', locks_key)
  if held_count <= stored_here then
    return {}
  end

  local texts = adjacency_of(paths)
  if not texts then
    return nil
  end
  local counts, neighbor_count, hub_lines, hubs, chunks_of = {}, 0, 0, {}, {}
  for _, path in ipairs(paths) do
    local hub, count, chunks = string.match(texts[path] or '0', '^(B?)(%d+):?(%d*)')
    counts[path] = tonumber(count)
    neighbor_count = neighbor_count + counts[path]
    if hub == 'B' then
      hubs[#hubs + 1], chunks_of[path] = path, tonumber(chunks)
      hub_lines = hub_lines + counts[path]
    end
  end
  if neighbor_count == 0 then
    return {}
  end

  -- Read only where there are more neighbors than locks.
  local held, is_held
  if neighbor_count > held_count then
    held, is_held = redis.call('HKEYS', locks_key), {}
    for _, path in ipairs(held) do
      is_held[path] = true
    end
  end

  local found, by_path = {}, {}
  local function add(order, sign, path)
    if order_of[path] or (is_held and not is_held[path]) then
      return
    end
    local known = by_path[path]
    if not known then
      by_path[path] = { path = path, order = order, sign = sign }
      found[#found + 1] = by_path[path]
    elseif order < known.order or (order == known.order and sign == '>') then
      known.order, known.sign = order, sign
    end
  end

  for order, via in ipairs(paths) do
    local text, count = texts[via], counts[via]
    local function visit(sign, path)
      add(order, sign, path)
    end
    if text and not chunks_of[via] then
      local searches = held and #held * 2 * (1 + count / LINES_OF_SEARCH) or math.huge
      if searches < count then
        for _, path in ipairs(held) do
          for _, sign in ipairs({ '>', '<' }) do
            if string.find(text, '\n' .. sign .. path .. '\n', 1, true) then
              add(order, sign, path)
            end
          end
        end
      else
        each_neighbor(text, visit)
      end
      if not spend(math.min(searches, count)) then
        return nil
      end
    end
  end

  -- The hubs, seen from what is held: each text is gone through once, whatever the number of hubs. Given up, with false, when
  -- that has read `most` lines.
  local function look_from_held(most)
    local until_left = lines_left - most
    return each_text(held, function(text, path)
      if not text or not string.find(text, '^B?%d') then
        return lines_left >= until_left
      end
      -- A hub's text has fewer lines than its count.
      local lines = math.min(tonumber(string.match(text, '%d+')), #text / 2)
      local searches = #hubs * 2 * (1 + lines / LINES_OF_SEARCH)
      if searches < lines then
        for _, via in ipairs(hubs) do
          -- Seen from the other end: who imports the hub is its importer.
          if string.find(text, '\n<' .. via .. '\n', 1, true) then
            add(order_of[via], '>', path)
          elseif string.find(text, '\n>' .. via .. '\n', 1, true) then
            add(order_of[via], '<', path)
          end
        end
      else
        each_neighbor(text, function(sign, via)
          if chunks_of[via] then
            add(order_of[via], sign == '<' and '>' or '<', path)
          end
        end)
      end
      spend(1 + math.min(searches, lines) + #text / BYTES_OF_LINE)
      return lines_left >= until_left
    end)
  end
  local is_seen = #hubs == 0
  if held and hub_lines > #held then
    -- Where reading the hubs themselves would do, that must stay possible.
    local is_either = hub_lines <= lines_left / 2
    is_seen = look_from_held(is_either and math.min(hub_lines * 2, lines_left - hub_lines) or lines_left)
  end
  if not is_seen then
    for _, via in ipairs(hubs) do
      local order = order_of[via]
      local is_read = each_neighbor_of_hub(via, chunks_of[via], function(sign, path)
        add(order, sign, path)
      end)
      if not is_read then
        return nil
      end
    end
  end

  local by_order, in_order = {}, {}
  for _, neighbor in ipairs(found) do
    neighbor.via = paths[neighbor.order]
    by_order[neighbor.order] = by_order[neighbor.order] or {}
    table.insert(by_order[neighbor.order], neighbor)
  end
  for order = 1, #paths do
    for _, neighbor in ipairs(by_order[order] or {}) do
      in_order[#in_order + 1] = neighbor
    end
  end
  return in_order
end

-- The first `most` files that import one of `paths`, none of which is meant, and how many there are; a third value where there
-- are more than could be counted.
local function importers_of(paths, most)
  local importers, count, is_seen = {}, 0, {}
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
