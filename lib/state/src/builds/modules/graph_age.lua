-- A graph is kept for GRAPH_DAYS after the last request about its branch, which is recorded once a day.
local GraphAge = {}

local GRAPH_DAYS, DAY = 14, 86400
GraphAge.DAY = DAY
GraphAge.GRAPH_DAYS = GRAPH_DAYS

-- Keeps the graph and its `parts` for `seconds`. The hash expires first: without it, the parts are not read.
function GraphAge.keep_graph(call, parts, seconds)
  redis.call('EXPIRE', call.keys.graph, seconds)
  for _, part in ipairs(parts) do
    redis.call('EXPIRE', part, seconds + 3600)
  end
end

-- call.graph_fields: version, asked_at, ignore_digest, policy_digest and pending of the graph, once they were read

function GraphAge.load(call)
  call.graph_fields = call.graph_fields
    or redis.call('HMGET', call.keys.graph, 'version', 'asked_at', 'ignore_digest', 'policy_digest', 'pending')
  return call.graph_fields
end

-- The commit of the stored graph, or ''; records that the graph is in use. Extends the head of the branch too: a process
-- without a source cannot fetch it, and it is recorded only when it moves. Uses pcall: if the store cannot be written, a
-- later script extends both.
function GraphAge.version(call)
  local version, asked_at = unpack(GraphAge.load(call), 1, 2)
  if version and math.abs(call.now - (asked_at or 0)) >= DAY then
    local reply = redis.pcall('HSET', call.keys.graph, 'asked_at', call.now)
    if type(reply) == 'number' then
      GraphAge.keep_graph(call, { call.keys.adjacency, call.keys.graph_json, call.keys.graph_scan, call.keys.head }, GRAPH_DAYS * DAY)
    end
  end
  return version or ''
end

return GraphAge
