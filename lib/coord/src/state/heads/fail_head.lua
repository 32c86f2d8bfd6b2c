-- fail_head: records that the head of a branch could not be fetched, or that there is no such branch.
-- KEYS: 1 head, 2 graph, 3... the parts of the graph
-- ARGV: 1 seconds until the next attempt, or '' if the branch is gone
-- Returns { FAILED, now }
local Clock = require('clock')
local GraphAge = require('builds/graph_age')

return function(KEYS, ARGV)
  local call = {}
  local graph_parts
  call.keys, graph_parts = { head = KEYS[1], graph = KEYS[2] }, { unpack(KEYS, 3) }
  local pause = ARGV[1]
  Clock.begin(call)

  if pause == '' then
    -- Seconds that the graph of a deleted branch is kept.
    local GONE_SECONDS = 3600
    redis.call('DEL', call.keys.head)
    -- If the branch comes back, the next request about it keeps its graph.
    redis.call('HDEL', call.keys.graph, 'asked_at')
    GraphAge.keep_graph(call, graph_parts, GONE_SECONDS)
  else
    redis.call('HSET', call.keys.head, 'refresh_at', call.now + pause, 'failed', '1')
    if redis.call('HEXISTS', call.keys.head, 'commit') == 0 then
      redis.call('EXPIRE', call.keys.head, math.max(60, tonumber(pause)))
    end
  end
  return { 'FAILED', call.now }
end
