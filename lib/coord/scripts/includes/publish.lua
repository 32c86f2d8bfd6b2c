-- Ends a build: the graph is of `commit` now, its `parts` are in their places, the lease is given back, and the change is announced.
-- Needs: graph_key, branch, now, keep_graph, emit.
local function finish_build(commit, fields, parts)
  redis.call('HDEL', graph_key, 'builder', 'building', 'lease_until', 'progress', 'failed', 'failure', 'failures', 'retry_at')
  redis.call('HSET', graph_key, 'version', commit, 'generated_at', now, 'asked_at', now)
  call_in_chunks('HSET', graph_key, fields)
  keep_graph(parts, GRAPH_DAYS * DAY)
  emit({ type = 'graph_update', branch = branch, version = commit })
end

-- Puts what is staged in the place of what is live.
local function replace(live_key, staging_key)
  redis.call('UNLINK', live_key)
  if redis.call('EXISTS', staging_key) == 1 then
    redis.call('RENAME', staging_key, live_key)
  end
end
