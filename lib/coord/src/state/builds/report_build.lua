-- report_build: reports the progress of a build to all subscribers, and renews the builder's lease. The report is published,
-- but not logged: later readers find it in the graph's hash.
-- KEYS: 1 graph, 2 events channel
-- ARGV: 1 builder, 2 seconds that the lease lasts, 3 branch, 4 files of the tree, 5 files to read, 6 files read
-- Returns { REPORTED, now } or { LOST, now }: the lease is another's
local Clock = require('clock')

return function(KEYS, ARGV)
  local call = {}
  local graph_key, events_channel = KEYS[1], KEYS[2]
  local builder, seconds, branch = ARGV[1], tonumber(ARGV[2]), ARGV[3]
  local files, wanted, scanned = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
  Clock.begin(call)

  local stored = redis.call('HMGET', graph_key, 'builder', 'building')
  if stored[1] ~= builder then
    return { 'LOST', call.now }
  end
  local progress = { files = files, wanted = wanted, scanned = scanned }
  redis.call('HSET', graph_key, 'lease_until', call.now + seconds, 'progress', cjson.encode(progress))
  progress.type, progress.branch, progress.version, progress.time = 'graph_progress', branch, stored[2], call.now
  redis.call('PUBLISH', events_channel, cjson.encode(progress))
  return { 'REPORTED', call.now }
end
