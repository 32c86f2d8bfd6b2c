-- Ends a build: the graph is of `commit` now, its `parts` are published, the lease is returned, and the change is announced.
-- Needs: keys.graph, and those of events/emit.
-- @include builds/graph_age
-- @include events/emit
-- @include chunks

local function finish_build(branch, commit, fields, parts)
  redis.call('HDEL', keys.graph, 'builder', 'building', 'lease_until', 'progress', 'failed', 'failure', 'failures', 'retry_at',
    'ignore', 'ignore_digest', 'policy', 'policy_digest')
  -- A build is no question: a branch that moves and that nobody asks about expires all the same. The first graph has one.
  local asked_at = math.min(now, tonumber(redis.call('HGET', keys.graph, 'asked_at') or now))
  redis.call('HSET', keys.graph, 'version', commit, 'generated_at', now, 'asked_at', asked_at)
  call_in_chunks('HSET', keys.graph, fields)
  keep_graph(parts, math.max(60, asked_at + GRAPH_DAYS * DAY - now))
  emit({ type = 'graph_update', branch = branch, version = commit })
end

-- Whether all of it is staged: `size` fields of a HASH, or bytes of a STRING. A Redis that has lost its last writes may lack
-- some and still know the builder.
local function is_whole(staging_key, form, size)
  return redis.call(form == 'HASH' and 'HLEN' or 'STRLEN', staging_key) == tonumber(size)
end

-- Replaces a live key by its staged value, of which there is none where it is an empty hash.
local function replace(live_key, staging_key)
  redis.call('UNLINK', live_key)
  if redis.call('EXISTS', staging_key) == 1 then
    redis.call('RENAME', staging_key, live_key)
  end
end
