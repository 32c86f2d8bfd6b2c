-- Edges that a request adds. Needs: team.
-- @include tasks/rings

local MOST_DEPENDENCIES = 256
local added, is_added = {}, {} -- list of { task, its dependency }, each once; 'TASK DEPENDENCY' -> true

local function plan_edge(id, dependency)
  local name = id .. ' ' .. dependency
  if not is_added[name] then
    is_added[name] = true
    added[#added + 1] = { id, dependency }
  end
end

-- Writes the planned edges. `completed`: id -> true. Returns how many more dependencies are not met: id -> count.
local function link_planned(completed)
  local members, more = {}, {}
  for _, edge in ipairs(added) do
    local id, dependency = edge[1], edge[2]
    for _, name in ipairs({ 'd ' .. id .. ' ' .. dependency, 'b ' .. dependency .. ' ' .. id }) do
      members[#members + 1] = 0
      members[#members + 1] = name
    end
    if not completed[dependency] then
      more[id] = (more[id] or 0) + 1
    end
  end
  call_in_chunks('ZADD', keys.edges, members)
  return more
end
