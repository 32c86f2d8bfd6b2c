-- fail_head: records that the head of a branch could not be fetched, or that there is no such branch.
-- KEYS: 1 head, 2 graph, 3... the parts of the graph
-- ARGV: 1 seconds until the next attempt, or '' if the branch is gone
-- Returns { FAILED, now }
local keys, graph_parts = { head = KEYS[1], graph = KEYS[2] }, { unpack(KEYS, 3) }
local pause = ARGV[1]
-- @include builds/graph_age

if pause == '' then
  -- Seconds that the graph of a deleted branch is kept.
  local GONE_SECONDS = 3600
  redis.call('DEL', keys.head)
  -- If the branch comes back, the next request about it keeps its graph.
  redis.call('HDEL', keys.graph, 'asked_at')
  keep_graph(graph_parts, GONE_SECONDS)
else
  redis.call('HSET', keys.head, 'refresh_at', now + pause, 'failed', '1')
  if redis.call('HEXISTS', keys.head, 'commit') == 0 then
    redis.call('EXPIRE', keys.head, math.max(60, tonumber(pause)))
  end
end
return { 'FAILED', now }
