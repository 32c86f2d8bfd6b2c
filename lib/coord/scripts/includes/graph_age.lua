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

-- The commit whose graph is stored, or ''; it is asked about now. Needs: keys.adjacency, keys.graph_json, keys.graph_scan.
local function graph_version()
  local version, asked_at = unpack(redis.call('HMGET', keys.graph, 'version', 'asked_at'))
  if version and math.abs(now - (asked_at or 0)) >= DAY then
    redis.call('HSET', keys.graph, 'asked_at', now)
    keep_graph({ keys.adjacency, keys.graph_json, keys.graph_scan }, GRAPH_DAYS * DAY)
  end
  return version or ''
end
