-- Rings of dependencies.
local Edges = require('tasks/edges')
local Team = require('teams/team')

local Rings = {}

-- A ring that `added` edges (list of { task, its dependency }) would close without those that are `removed` (text 'TASK
-- DEPENDENCY' -> true), as the list of its tasks; or nil. `is_new`: tasks that the store does not have yet. A completed task closes
-- no ring but with itself. Two searches go on in turns, one along dependencies and one against them; that of the smaller side ends first.
-- Those of a single edge end where they meet. After MOST_SEARCHED edges they give up: nil and true.
local MOST_SEARCHED = 30000

function Rings.ring_of(call, added, removed, is_new)
  local over, searched = { d = {}, b = {} }, 0
  for _, edge in ipairs(added) do
    if edge[1] == edge[2] then
      return { edge[1], edge[2] }
    end
  end
  for _, edge in ipairs(#added > 1 and added or {}) do
    local id, dependency = edge[1], edge[2]
    over.d[id], over.b[dependency] = over.d[id] or {}, over.b[dependency] or {}
    table.insert(over.d[id], dependency)
    table.insert(over.b[dependency], id)
  end

  local function following(side, id)
    local ids, is_completed = {}, false
    if not is_new[id] then
      ids, is_completed = Edges.ends_of(call, side, id)
    end
    if is_completed then
      return {}
    end
    searched = searched + #ids
    local more = over[side][id]
    if not more and not next(removed) then
      return ids
    end
    local kept = {}
    for _, other in ipairs(ids) do
      if not removed[side == 'd' and id .. ' ' .. other or other .. ' ' .. id] then
        kept[#kept + 1] = other
      end
    end
    for _, other in ipairs(more or {}) do
      kept[#kept + 1] = other
    end
    return kept
  end

  local function is_done(id)
    local _, is_completed = Edges.ends_of(call, 'd', id, 1)
    return is_completed
  end

  -- A search from one end of a single edge; each call of the function returned looks at one task. It returns true when all is
  -- searched, and a task that the other search has reached too, if there is one. Also returns which tasks were reached: id -> the one
  -- before it.
  local function walk(side, start)
    local reached, open = { [start] = '' }, { start }
    return reached,
      function(by_other)
        local id = table.remove(open)
        for _, other in ipairs(id and following(side, id) or {}) do
          if not reached[other] then
            reached[other], open[#open + 1] = id, other
            if by_other[other] and not is_done(other) then
              return true, other
            end
          end
        end
        return id == nil
      end
  end

  -- The ring that a single edge would close, or nil.
  local function ring_of_one(id, dependency)
    local reached_along, along = walk('d', dependency)
    local reached_against, against = walk('b', id)
    local is_over, met
    repeat
      is_over, met = along(reached_against)
      if not is_over then
        is_over, met = against(reached_along)
      end
    until is_over or searched > MOST_SEARCHED
    if not met then
      return nil, not is_over
    end
    local turned, ring = {}, { id }
    local one = met
    while one ~= '' do
      turned[#turned + 1], one = one, reached_along[one]
    end
    for index = #turned, 1, -1 do
      ring[#ring + 1] = turned[index]
    end
    one = reached_against[met]
    while one ~= '' do
      ring[#ring + 1], one = one, reached_against[one]
    end
    return ring
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

  if #added == 1 then
    return ring_of_one(unpack(added[1]))
  end
  local along, against = search('d', 1), search('b', 2)
  while searched <= MOST_SEARCHED do
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
  return nil, true
end

function Rings.refuse_search(call)
  return Team.refuse(call, 'TOO_MANY', { what = 'dependencies of dependencies that a request is checked against', most = MOST_SEARCHED })
end

-- The refusal for a ring, which names it whole, from the first of its tasks on that the request `is_about` (id -> true). Of a ring that
-- would take more than MOST_BYTES it names what has room, and how many tasks more there are.
function Rings.refuse_ring(call, ring, is_about)
  -- An answer has the sentence up to three times.
  local MOST_BYTES = 65536
  local start = 1
  while start < #ring and not is_about[ring[start]] do
    start = start + 1
  end
  local count, bytes, turned, more = #ring - 1, 0, {}, nil
  for offset = 0, count - 1 do
    local id = ring[(start - 1 + offset) % count + 1]
    bytes = bytes + #id + #' -> '
    if bytes > MOST_BYTES then
      more = count - offset
      break
    end
    turned[#turned + 1] = id
  end
  return Team.refuse(call, 'CIRCULAR', { ring = turned, more = more })
end

return Rings
