-- Edges that a request adds.
local Chunks = require('chunks')
local Team = require('teams/team')

local Planned = {}

local MAX_DEPENDENCIES = 256

function Planned.begin(call)
  call.added, call.is_added = {}, {} -- list of { task, its dependency }, each once; task -> its dependency -> true
end

function Planned.plan_edge(call, id, dependency)
  local of_task = call.is_added[id]
  if not of_task then
    of_task = {}
    call.is_added[id] = of_task
  end
  if not of_task[dependency] then
    of_task[dependency] = true
    call.added[#call.added + 1] = { id, dependency }
  end
end

-- The order to store for a list of ids, so that readers get the order of the request; nil if there is nothing to order.
function Planned.order_of(ids)
  return #ids > 1 and ids or nil
end

-- The refusal if a task would have too many dependencies, or nil; `count_before` returns their current number.
function Planned.refuse_planned(call, count_before)
  local count_of = {}
  for _, edge in ipairs(call.added) do
    local id = edge[1]
    count_of[id] = (count_of[id] or count_before(id)) + 1
    if count_of[id] > MAX_DEPENDENCIES then
      return Team.refuse(call, 'TOO_MANY', { what = 'dependencies', most = MAX_DEPENDENCIES })
    end
  end
end

-- The two names of the edge from a task, completed or not, to its dependency.
local function edge_names(id, dependency, is_completed)
  return 'd ' .. id .. ' ' .. dependency, (is_completed and 'c ' or 'b ') .. dependency .. ' ' .. id
end

function Planned.unlink(call, id, dependency)
  redis.call('ZREM', call.keys.edges, 'd ' .. id .. ' ' .. dependency, 'b ' .. dependency .. ' ' .. id, 'c ' .. dependency .. ' ' .. id)
end

-- Writes the planned edges. `completed`: id -> true. Returns how many more unmet dependencies open tasks have: id -> count.
function Planned.link_planned(call, completed)
  local members, more = {}, {}
  for _, edge in ipairs(call.added) do
    local id, dependency = edge[1], edge[2]
    local forward, backward = edge_names(id, dependency, completed[id])
    local count = #members
    members[count + 1], members[count + 2], members[count + 3], members[count + 4] = 0, forward, 0, backward
    if not completed[dependency] and not completed[id] then
      more[id] = (more[id] or 0) + 1
    end
  end
  Chunks.call_in_chunks('ZADD', call.keys.edges, members)
  return more
end

return Planned
