-- Edges that a request adds. Needs: team.
-- @include tasks/rings

local MOST_DEPENDENCIES = 256
local added, is_added = {}, {} -- list of { task, its dependency }, each once; task -> its dependency -> true

local function plan_edge(id, dependency)
  local of_task = is_added[id]
  if not of_task then
    of_task = {}
    is_added[id] = of_task
  end
  if not of_task[dependency] then
    of_task[dependency] = true
    added[#added + 1] = { id, dependency }
  end
end

-- What is kept of a list of ids, so that it is read in the order in which it was given.
local function given_order(ids)
  return #ids > 1 and ids or nil
end

-- The refusal if a task would have too many dependencies, of which `before` gives the number; or nil.
local function refuse_planned(before)
  local per_task = {}
  for _, edge in ipairs(added) do
    local id = edge[1]
    per_task[id] = (per_task[id] or before(id)) + 1
    if per_task[id] > MOST_DEPENDENCIES then
      return refuse('TOO_MANY', 'dependencies', MOST_DEPENDENCIES)
    end
  end
end

-- The two names of the edge from a task, completed or not, to what it depends on.
local function edge_names(id, dependency, is_completed)
  return 'd ' .. id .. ' ' .. dependency, (is_completed and 'c ' or 'b ') .. dependency .. ' ' .. id
end

local function unlink(id, dependency)
  redis.call('ZREM', keys.edges, 'd ' .. id .. ' ' .. dependency, 'b ' .. dependency .. ' ' .. id, 'c ' .. dependency .. ' ' .. id)
end

-- Writes the planned edges. `completed`: id -> true. Returns how many more dependencies of open tasks are not met: id -> count.
local function link_planned(completed)
  local members, more = {}, {}
  for _, edge in ipairs(added) do
    local id, dependency = edge[1], edge[2]
    local forward, backward = edge_names(id, dependency, completed[id])
    local count = #members
    members[count + 1], members[count + 2], members[count + 3], members[count + 4] = 0, forward, 0, backward
    if not completed[dependency] and not completed[id] then
      more[id] = (more[id] or 0) + 1
    end
  end
  call_in_chunks('ZADD', keys.edges, members)
  return more
end
