-- discard_graph: records that the stored graph of a commit cannot be read, so that it counts as missing and is built again.
-- KEYS: `graph`
-- ARGV: that of admission/request, with `commit` of the unreadable graph
-- Returns { DISCARDED, now } or { OTHER, now }: the stored graph is of another commit, or there is none
local Clock = require('clock')
local Request = require('admission/request')

return function(KEYS, ARGV)
  local call = Request.read(KEYS, ARGV)
  Clock.begin(call)

  if redis.call('HGET', call.keys.graph, 'version') ~= call.request.commit then
    return { 'OTHER', call.now }
  end
  redis.call('HDEL', call.keys.graph, 'version', 'generated_at')
  return { 'DISCARDED', call.now }
end
