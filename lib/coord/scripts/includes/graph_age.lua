-- How long a graph is kept: GRAPH_DAYS after the last request that asked about its branch, which is noted once a day, and
-- GONE_SECONDS after a source said that the branch is gone. Needs: graph_key, now.
local GRAPH_DAYS, GONE_SECONDS, DAY = 14, 3600, 86400

-- Keeps the graph and its `parts` for `seconds`. The hash goes first: without it, nobody looks at the parts.
local function keep_graph(parts, seconds)
  redis.call('EXPIRE', graph_key, seconds)
  for _, part in ipairs(parts) do
    redis.call('EXPIRE', part, seconds + 3600)
  end
end

-- The commit whose graph is stored, or ''; it is asked about now.
local function graph_version(parts)
  local version, asked_at = unpack(redis.call('HMGET', graph_key, 'version', 'asked_at'))
  if version and math.abs(now - (asked_at or 0)) >= DAY then
    redis.call('HSET', graph_key, 'asked_at', now)
    keep_graph(parts, GRAPH_DAYS * DAY)
  end
  return version or ''
end
