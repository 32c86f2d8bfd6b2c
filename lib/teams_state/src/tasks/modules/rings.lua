-- Rings of dependencies.
local Edges = require('tasks/edges')
local Team = require('teams/team')

local Rings = {}

local MAX_SEARCHED = 30000

-- The graph of a search. `removed`, `is_new`: those of ring_of(); `added_ends`: side of Edges.ends_of() -> task -> ends of its `added`
-- edges; `edge_count`: how many stored edges were read.
local function begin_graph(added, removed, is_new)
  local graph = { removed = removed, is_new = is_new, added_ends = { d = {}, b = {} }, edge_count = 0 }
  local dependencies, dependents = graph.added_ends.d, graph.added_ends.b
  for _, edge in ipairs(added) do
    local id, dependency = edge[1], edge[2]
    dependencies[id], dependents[dependency] = dependencies[id] or {}, dependents[dependency] or {}
    table.insert(dependencies[id], dependency)
    table.insert(dependents[dependency], id)
  end
  return graph
end

-- The ids at the other ends of the edges of a task, on one side.
local function next_ids(call, graph, side, id)
  local ids, is_completed = {}, false
  if not graph.is_new[id] then
    ids, is_completed = Edges.ends_of(call, side, id)
  end
  if is_completed then
    return {}
  end
  graph.edge_count = graph.edge_count + #ids
  local more = graph.added_ends[side][id]
  if not more and not next(graph.removed) then
    return ids
  end
  local kept = {}
  for _, other in ipairs(ids) do
    if not graph.removed[side == 'd' and id .. ' ' .. other or other .. ' ' .. id] then
      kept[#kept + 1] = other
    end
  end
  for _, other in ipairs(more or {}) do
    kept[#kept + 1] = other
  end
  return kept
end

local function is_task_completed(call, id)
  local _, is_completed = Edges.ends_of(call, 'd', id, 1)
  return is_completed
end

-- A search from one end of a single edge. `reached`: task -> the previous one, '' for the first; `open`: tasks to look at.
local function begin_walk(side, start)
  return { side = side, reached = { [start] = '' }, open = { start } }
end

-- Looks at one task. Returns whether the search is complete, and a task that the `other` search has reached too, if there is one.
local function step(call, graph, walk, other)
  local id = table.remove(walk.open)
  for _, next_id in ipairs(id and next_ids(call, graph, walk.side, id) or {}) do
    if not walk.reached[next_id] then
      walk.reached[next_id], walk.open[#walk.open + 1] = id, next_id
      if other.reached[next_id] and not is_task_completed(call, next_id) then
        return true, next_id
      end
    end
  end
  return id == nil
end

local function reversed(list)
  local result = {}
  for index = #list, 1, -1 do
    result[#result + 1] = list[index]
  end
  return result
end

-- The tasks from `last` back to the start of the walk.
local function path_to(walk, last)
  local path, current = {}, last
  while current ~= '' do
    path[#path + 1], current = current, walk.reached[current]
  end
  return path
end

-- The ring that a single edge would close; or nil, and whether the searches have given up.
local function ring_of_one(call, graph, id, dependency)
  local along, against = begin_walk('d', dependency), begin_walk('b', id)
  local is_complete, met
  repeat
    is_complete, met = step(call, graph, along, against)
    if not is_complete then
      is_complete, met = step(call, graph, against, along)
    end
  until is_complete or graph.edge_count > MAX_SEARCHED
  if not met then
    return nil, not is_complete
  end
  local ring = { id }
  for _, reached in ipairs(reversed(path_to(along, met))) do
    ring[#ring + 1] = reached
  end
  for _, reached in ipairs(path_to(against, against.reached[met])) do
    ring[#ring + 1] = reached
  end
  return ring
end

local OPEN, CLOSED = 1, 2

-- A depth-first search from one end of every added edge, 1 or 2. `state_of`: task -> OPEN or CLOSED; `path`: the open tasks; `rest`: for
-- each of these, the ids to look at.
local function begin_search(side, edge_end)
  return { side = side, edge_end = edge_end, state_of = {}, path = {}, rest = {}, next_edge = 1 }
end

local function open_task(call, graph, search, id)
  search.state_of[id] = OPEN
  search.path[#search.path + 1], search.rest[#search.rest + 1] = id, next_ids(call, graph, search.side, id)
end

-- The ring that an edge from the last open task to the open task `id` closes, from its end.
local function ring_from(path, id)
  local ring = { id }
  for index = #path, 1, -1 do
    if path[index] == id then
      break
    end
    table.insert(ring, path[index])
  end
  table.insert(ring, id)
  return ring
end

-- Looks at one task. Returns whether the search is complete, and the ring from its end, if there is one.
local function advance(call, graph, search, added)
  local state_of, path, rest = search.state_of, search.path, search.rest
  while #path > 0 do
    local other = table.remove(rest[#rest])
    if not other then
      state_of[path[#path]] = CLOSED
      path[#path], rest[#rest] = nil, nil
    elseif state_of[other] == OPEN then
      return true, ring_from(path, other)
    elseif not state_of[other] then
      open_task(call, graph, search, other)
      return false
    end
  end
  local edge_end = search.edge_end
  while added[search.next_edge] and state_of[added[search.next_edge][edge_end]] do
    search.next_edge = search.next_edge + 1
  end
  if not added[search.next_edge] then
    return true
  end
  open_task(call, graph, search, added[search.next_edge][edge_end])
  return false
end

-- The ring that several edges would close; or nil, and whether the searches have given up.
local function ring_of_several(call, graph, added)
  local along, against = begin_search('d', 1), begin_search('b', 2)
  while graph.edge_count <= MAX_SEARCHED do
    local is_complete, ring = advance(call, graph, along, added)
    if is_complete then
      return ring and reversed(ring)
    end
    is_complete, ring = advance(call, graph, against, added)
    if is_complete then
      return ring
    end
  end
  return nil, true
end

-- The ring that `added` edges (list of { task, its dependency }) would close, without the edges in `removed` (text 'TASK DEPENDENCY' ->
-- true), as the list of its tasks; or nil. `is_new`: tasks that the store does not have yet. A completed task closes no ring, except with
-- itself. Two searches alternate, one along dependencies and one against them, so that the search of the smaller side ends first. For a
-- single edge, they end where they meet. After MAX_SEARCHED edges they give up: nil and true.
function Rings.ring_of(call, added, removed, is_new)
  for _, edge in ipairs(added) do
    if edge[1] == edge[2] then
      return { edge[1], edge[2] }
    end
  end
  if #added == 1 then
    return ring_of_one(call, begin_graph({}, removed, is_new), unpack(added[1]))
  end
  return ring_of_several(call, begin_graph(added, removed, is_new), added)
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
