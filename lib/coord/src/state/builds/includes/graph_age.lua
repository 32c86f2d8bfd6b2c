-- How long a graph is kept: GRAPH_DAYS after the last request that asked about its branch, which is noted once a day. Needs:
-- keys.graph.
-- @include clock
local GRAPH_DAYS, DAY = 14, 86400

-- Keeps the graph and its `parts` for `seconds`. The hash goes first: without it, nobody looks at the parts.
local function keep_graph(parts, seconds)
  redis.call('EXPIRE', keys.graph, seconds)
  for _, part in ipairs(parts) do
    redis.call('EXPIRE', part, seconds + 3600)
  end
end

-- The commit whose graph is stored, or ''; it is asked about now. The head of the branch is kept with it: where nobody here can ask
-- for it, it is recorded when it moves, and not before. Where the store cannot be written, a later script keeps them: hence pcall.
-- Needs: keys.adjacency, keys.graph_json, keys.graph_scan; keys.head where a head is looked at.
local function graph_version()
  local version, asked_at = unpack(redis.call('HMGET', keys.graph, 'version', 'asked_at'))
  if version and math.abs(now - (asked_at or 0)) >= DAY then
    local noted = redis.pcall('HSET', keys.graph, 'asked_at', now)
    if type(noted) == 'number' then
      keep_graph({ keys.adjacency, keys.graph_json, keys.graph_scan, keys.head }, GRAPH_DAYS * DAY)
    end
  end
  return version or ''
end
