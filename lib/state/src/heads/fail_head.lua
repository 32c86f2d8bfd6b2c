-- fail_head: records that the head of a branch could not be fetched, or that there is no such branch.
-- KEYS: `head`, and, if the branch is gone, `graph`, `adjacency`, `graph_json`, `graph_scan`
-- ARGV: that of admission/request, with `pause`: seconds until the next attempt, absent if the branch is gone
-- Returns { FAILED, now }
local Clock = require('clock')
local GraphAge = require('builds/graph_age')
local Request = require('admission/request')

return function(KEYS, ARGV)
  local call = Request.read(KEYS, ARGV)
  local keys, pause = call.keys, call.request.pause
  Clock.begin(call)

  if not pause then
    -- Seconds that the graph of a deleted branch is kept.
    local GONE_SECONDS = 3600
    redis.call('DEL', keys.head)
    -- If the branch comes back, the next request about it keeps its graph.
    redis.call('HDEL', keys.graph, 'asked_at')
    GraphAge.keep_graph(call, { keys.adjacency, keys.graph_json, keys.graph_scan }, GONE_SECONDS)
  else
    redis.call('HSET', keys.head, 'refresh_at', call.now + pause, 'failed', '1')
    if redis.call('HEXISTS', keys.head, 'commit') == 0 then
      redis.call('EXPIRE', keys.head, math.max(60, pause))
    end
  end
  return { 'FAILED', call.now }
end
