-- A graph is kept for GRAPH_DAYS after the last request about its branch, which is recorded once a day. Needs: keys.graph.
-- @include clock
local GRAPH_DAYS, DAY = 14, 86400

-- Keeps the graph and its `parts` for `seconds`. The hash expires first: without it, the parts are not read.
local function keep_graph(parts, seconds)
  redis.call('EXPIRE', keys.graph, seconds)
  for _, part in ipairs(parts) do
    redis.call('EXPIRE', part, seconds + 3600)
  end
end

local graph_fields -- version, asked_at, ignore_digest, policy_digest and pending of the graph, once they were read

local function load_graph()
  graph_fields = graph_fields or redis.call('HMGET', keys.graph, 'version', 'asked_at', 'ignore_digest', 'policy_digest', 'pending')
  return graph_fields
end

-- The commit of the stored graph, or ''; records that the graph is in use. The head of the branch is kept with it: a process
-- without a source cannot fetch it, and it is recorded only when it moves. If the store cannot be written, a later script
-- keeps them: hence pcall. Needs: keys.adjacency, keys.graph_json, keys.graph_scan; keys.head if a head is read.
local function graph_version()
  local version, asked_at = unpack(load_graph(), 1, 2)
  if version and math.abs(now - (asked_at or 0)) >= DAY then
    local noted = redis.pcall('HSET', keys.graph, 'asked_at', now)
    if type(noted) == 'number' then
      keep_graph({ keys.adjacency, keys.graph_json, keys.graph_scan, keys.head }, GRAPH_DAYS * DAY)
    end
  end
  return version or ''
end
