-- fail_head: notes that the head of a branch could not be asked for, or that there is no such branch.
-- KEYS: 1 head, 2 graph, 3... the parts of the graph
-- ARGV: 1 seconds until it may be asked for again, or '' where the branch is gone
-- Returns { FAILED, now }
head_key = KEYS[1]
if ARGV[1] == '' then
  redis.call('DEL', head_key)
  -- Should the branch come back, the next request about it keeps its graph.
  graph_key = KEYS[2]
  redis.call('HDEL', graph_key, 'asked_at')
  keep_graph({ unpack(KEYS, 3) }, GONE_SECONDS)
else
  redis.call('HSET', head_key, 'refresh_at', now + ARGV[1], 'failed', '1')
  if redis.call('HEXISTS', head_key, 'commit') == 0 then
    redis.call('EXPIRE', head_key, math.max(60, tonumber(ARGV[1])))
  end
end
return { 'FAILED', now }
