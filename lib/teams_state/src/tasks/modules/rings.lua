-- Rings of dependencies.
local Edges = require('tasks/edges')
local Team = require('teams/team')

local Rings = {}

local MAX_SEARCHED = 30000

-- The ring that `added` edges (list of { task, its dependency }) would close, without the edges in `removed` (text 'TASK DEPENDENCY' ->
-- true), as the list of its tasks; or nil. `is_new`: tasks that the store does not have yet. A completed task closes no ring, except with
-- itself. Two searches alternate, one along dependencies and one against them, so that the search of the smaller side ends first. For a
-- single edge, they end where they meet. After MAX_SEARCHED edges they give up: nil and true.
function Rings.ring_of(call, added, removed, is_new)
  local added_ends, searched = { d = {}, b = {} }, 0
  for _, edge in ipairs(added) do
    if edge[1] == edge[2] then
      return { edge[1], edge[2] }
    end
  end
  for _, edge in ipairs(#added > 1 and added or {}) do
    local id, dependency = edge[1], edge[2]
    added_ends.d[id], added_ends.b[dependency] = added_ends.d[id] or {}, added_ends.b[dependency] or {}
    table.insert(added_ends.d[id], dependency)
    table.insert(added_ends.b[dependency], id)
  end

  local function next_ids(side, id)
    local ids, is_completed = {}, false
    if not is_new[id] then
      ids, is_completed = Edges.ends_of(call, side, id)
    end
    if is_completed then
      return {}
    end
    searched = searched + #ids
    local more = added_ends[side][id]
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

  local function is_task_completed(id)
    local _, is_completed = Edges.ends_of(call, 'd', id, 1)
    return is_completed
  end

  -- A search from one end of a single edge. Returns the reached tasks (id -> the previous one), and a function that looks at one task per
  -- call. That returns true when the search is complete, and a task that the other search has reached too, if there is one.
  local function walk(side, start)
    local reached, open = { [start] = '' }, { start }
    return reached,
      function(reached_by_other)
        local id = table.remove(open)
        for _, other in ipairs(id and next_ids(side, id) or {}) do
          if not reached[other] then
            reached[other], open[#open + 1] = id, other
            if reached_by_other[other] and not is_task_completed(other) then
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
    local is_complete, met
    repeat
      is_complete, met = along(reached_against)
      if not is_complete then
        is_complete, met = against(reached_along)
      end
    until is_complete or searched > MAX_SEARCHED
    if not met then
      return nil, not is_complete
    end
    local backward, ring = {}, { id }
    local current = met
    while current ~= '' do
      backward[#backward + 1], current = current, reached_along[current]
    end
    for index = #backward, 1, -1 do
      ring[#ring + 1] = backward[index]
    end
    current = reached_against[met]
    while current ~= '' do
      ring[#ring + 1], current = current, reached_against[current]
    end
    return ring
  end

  -- A depth-first search from one end of every added edge. Returns a function that looks at one task per call. That returns true when the
  -- search is complete, and the ring if there is one.
  local function search(side, edge_end)
    local OPEN, CLOSED = 1, 2
    local state, path, rest, next_edge = {}, {}, {}, 1
    local function push(id)
      state[id] = OPEN
      path[#path + 1], rest[#rest + 1] = id, next_ids(side, id)
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
      while added[next_edge] and state[added[next_edge][edge_end]] do
        next_edge = next_edge + 1
      end
      if not added[next_edge] then
        return true
      end
      push(added[next_edge][edge_end])
      return false
    end
  end

  if #added == 1 then
    return ring_of_one(unpack(added[1]))
  end
  local along, against = search('d', 1), search('b', 2)
  while searched <= MAX_SEARCHED do
    local is_complete, ring = along()
    if is_complete then
      if ring then
        -- search() lists the path from its end.
        local forward = {}
        for index = #ring, 1, -1 do
          forward[#forward + 1] = ring[index]
        end
        return forward
      end
      return nil
    end
    is_complete, ring = against()
    if is_complete then
      return ring
    end
  end
  return nil, true
end

function Rings.refuse_search(call)
  return Team.refuse(call, 'TOO_MANY', { what = 'dependencies of dependencies that a request is checked against', most = MAX_SEARCHED })
end

-- The refusal for a ring. It names the whole ring, starting with a task of the request (`is_of_request`: id -> true). If that takes more
-- than MAX_BYTES, it names the tasks that fit, and the number of the others.
function Rings.refuse_ring(call, ring, is_of_request)
  -- An answer has the sentence up to three times.
  local MAX_BYTES = 65536
  local start = 1
  while start < #ring and not is_of_request[ring[start]] do
    start = start + 1
  end
  local count, bytes, named, more = #ring - 1, 0, {}, nil
  for offset = 0, count - 1 do
    local id = ring[(start - 1 + offset) % count + 1]
    bytes = bytes + #id + #' -> '
    if bytes > MAX_BYTES then
      more = count - offset
      break
    end
    named[#named + 1] = id
  end
  return Team.refuse(call, 'CIRCULAR', { ring = named, more = more })
end

return Rings
