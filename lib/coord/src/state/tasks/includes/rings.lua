-- Rings of dependencies. Needs: team.
-- @include tasks/edges

-- A ring that `added` edges (list of { task, its dependency }) would close without those that are `removed` (text 'TASK
-- DEPENDENCY' -> true), as the list of its tasks; or nil. `is_new`: tasks that the store does not have yet. A completed task closes
-- no ring but with itself. Two searches go on in turns, one along dependencies and one against them; that of the smaller side ends first.
local function ring_of(added, removed, is_new)
  local over = { d = {}, b = {} }
  for _, edge in ipairs(added) do
    local id, dependency = edge[1], edge[2]
    if id == dependency then
      return { id, id }
    end
    over.d[id], over.b[dependency] = over.d[id] or {}, over.b[dependency] or {}
    table.insert(over.d[id], dependency)
    table.insert(over.b[dependency], id)
  end

  local function following(side, id)
    local ids, is_completed = {}, false
    if not is_new[id] then
      ids, is_completed = ends_of(side, id)
    end
    if is_completed then
      return {}
    end
    local kept = {}
    for _, other in ipairs(ids) do
      if not removed[side == 'd' and id .. ' ' .. other or other .. ' ' .. id] then
        kept[#kept + 1] = other
      end
    end
    for _, other in ipairs(over[side][id] or {}) do
      kept[#kept + 1] = other
    end
    return kept
  end

  -- A depth-first search from one end of every added edge; each call of the function returned looks at one task. It gives true when
  -- all is searched, and the ring if there is one.
  local function search(side, place)
    local OPEN, CLOSED = 1, 2
    local state, path, rest, next_edge = {}, {}, {}, 1
    local function push(id)
      state[id] = OPEN
      path[#path + 1], rest[#rest + 1] = id, following(side, id)
    end
    return function()
      while #path > 0 do
        local list = rest[#rest]
        local other = table.remove(list)
        if not other then
          state[path[#path]] = CLOSED
          path[#path], rest[#rest] = nil, nil
        elseif state[other] == OPEN then
          local ring = { other }
          for index = #path, 1, -1 do
            if path[index] == other then
              break
            end
            table.insert(ring, path[index])
          end
          table.insert(ring, other)
          return true, ring
        elseif not state[other] then
          push(other)
          return false
        end
      end
      while added[next_edge] and state[added[next_edge][place]] do
        next_edge = next_edge + 1
      end
      if not added[next_edge] then
        return true
      end
      push(added[next_edge][place])
      return false
    end
  end

  local along, against = search('d', 1), search('b', 2)
  while true do
    local is_over, ring = along()
    if is_over then
      if ring then
        -- The path was walked along dependencies, and read from its end.
        local turned = {}
        for index = #ring, 1, -1 do
          turned[#turned + 1] = ring[index]
        end
        return turned
      end
      return nil
    end
    is_over, ring = against()
    if is_over then
      return ring
    end
  end
end

-- The refusal for a ring, which names it whole, from the first of its tasks on that the request `is_about` (id -> true). Of a ring that
-- would take more than MOST_BYTES it names what has room, and how many tasks more there are.
local function refuse_ring(ring, is_about)
  -- An answer has the sentence up to three times.
  local MOST_BYTES = 65536
  local start = 1
  while start < #ring and not is_about[ring[start]] do
    start = start + 1
  end
  local count, bytes, turned = #ring - 1, 0, {}
  for offset = 0, count - 1 do
    local id = ring[(start - 1 + offset) % count + 1]
    bytes = bytes + #id + #' -> '
    if bytes > MOST_BYTES then
      turned[#turned + 1] = string.format('... and %d more', count - offset)
      break
    end
    turned[#turned + 1] = id
  end
  turned[#turned + 1] = turned[1]
  return refuse('CIRCULAR', table.concat(turned, ' -> '))
end
