-- discard_graph: records that the stored graph of a commit cannot be read, so that it counts as missing and is built again.
-- KEYS: 1 graph
-- ARGV: 1 commit of the unreadable graph
-- Returns { DISCARDED, now } or { OTHER, now }: the stored graph is of another commit, or there is none
local Clock = require('clock')

return function(KEYS, ARGV)
  local call = {}
  local graph_key = KEYS[1]
  local commit = ARGV[1]
  Clock.begin(call)

  if redis.call('HGET', graph_key, 'version') ~= commit then
    return { 'OTHER', call.now }
  end
  redis.call('HDEL', graph_key, 'version', 'generated_at')
  return { 'DISCARDED', call.now }
end
