-- report_build: reports the progress of a build to all subscribers, and renews the builder's lease. The report is published,
-- but not logged: later readers find it in the graph's hash.
-- KEYS: `graph`, `events`
-- ARGV: that of admission/request, with `builder`, `lease`: seconds that it lasts, `branch`, and `progress`: `files` of the tree, `wanted`:
-- files to read, `scanned`: files read
-- Returns { REPORTED, now } or { LOST, now }: the builder lost the lease
local Clock = require('clock')
local Request = require('admission/request')

return function(KEYS, ARGV)
  local call = Request.read(KEYS, ARGV)
  Clock.begin(call)
  local request, progress = call.request, call.request.progress

  local stored = redis.call('HMGET', call.keys.graph, 'builder', 'building')
  if stored[1] ~= request.builder then
    return { 'LOST', call.now }
  end
  redis.call('HSET', call.keys.graph, 'lease_until', call.now + request.lease, 'progress', cjson.encode(progress))
  progress.type, progress.branch, progress.version, progress.time = 'graph_progress', request.branch, stored[2], call.now
  redis.call('PUBLISH', call.keys.events, cjson.encode(progress))
  return { 'REPORTED', call.now }
end
