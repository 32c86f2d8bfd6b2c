-- Ends a build: the graph is of `commit` now, its `parts` are published, the lease is returned, and the change is announced.
local Chunks = require('chunks')
local Emit = require('events/emit')
local GraphAge = require('builds/graph_age')

local Publish = {}

function Publish.finish_build(call, branch, commit, fields, parts)
  redis.call(
    'HDEL',
    call.keys.graph,
    'builder',
    'building',
    'lease_until',
    'progress',
    'failed',
    'failure',
    'failures',
    'retry_at',
    'ignore',
    'ignore_digest',
    'policy',
    'policy_digest'
  )
  -- A build is not a request: a branch that moves without requests still expires. A first graph counts as requested now.
  local asked_at = math.min(call.now, tonumber(redis.call('HGET', call.keys.graph, 'asked_at') or call.now))
  redis.call('HSET', call.keys.graph, 'version', commit, 'generated_at', call.now, 'asked_at', asked_at)
  Chunks.call_in_chunks('HSET', call.keys.graph, fields)
  GraphAge.keep_graph(call, parts, math.max(60, asked_at + GraphAge.GRAPH_DAYS * GraphAge.DAY - call.now))
  Emit.event(call, { type = 'graph_update', branch = branch, version = commit })
end

-- Whether the staged value is complete: `size` fields of a HASH, or bytes of a STRING. A Redis that lost its last writes may
-- lack some and still know the builder.
function Publish.is_whole(staging_key, form, size)
  return redis.call(form == 'HASH' and 'HLEN' or 'STRLEN', staging_key) == size
end

-- Replaces a live key by its staged value. An empty hash has no staging key.
function Publish.replace(live_key, staging_key)
  redis.call('UNLINK', live_key)
  if redis.call('EXISTS', staging_key) == 1 then
    redis.call('RENAME', staging_key, live_key)
  end
end

return Publish
