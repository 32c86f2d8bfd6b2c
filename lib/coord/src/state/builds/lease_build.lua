-- lease_build: lets one builder at a time build the graph of a branch, across processes. The lease of a dead builder
-- expires; a builder that asks again renews its own.
-- KEYS: 1 graph
-- ARGV: 1 builder, 2 commit to build, 3 seconds that the lease lasts
-- Returns { GRANTED, now } or { CURRENT, now }: that commit's graph is already stored
--      or { BUSY, now, commit, until when }: another builder has the lease
--      or { BACKING_OFF, now, reason, until when }: that commit's build has failed recently
local Clock = require('clock')
local GraphAge = require('builds/graph_age')

return function(KEYS, ARGV)
  local call = {}
  call.keys = { graph = KEYS[1] }
  local builder, commit, seconds = ARGV[1], ARGV[2], tonumber(ARGV[3])
  Clock.begin(call)

  local stored = redis.call('HMGET', call.keys.graph, 'version', 'builder', 'building', 'lease_until', 'failed', 'failure', 'retry_at')
  local version, owner, building, lease_until = stored[1], stored[2], stored[3], tonumber(stored[4] or 0)
  if version == commit then
    return { 'CURRENT', call.now }
  end
  -- A time further ahead than any is set: the clock was set back.
  local function is_ahead(time, most)
    return time > call.now and time <= call.now + most
  end

  if owner and owner ~= '' and owner ~= builder and is_ahead(lease_until, seconds) then
    return { 'BUSY', call.now, building or '', lease_until }
  end
  -- Seconds of the longest pause after a failure (fail_build).
  local MOST_PAUSE = 600
  if stored[5] == commit and owner ~= builder and is_ahead(tonumber(stored[7] or 0), MOST_PAUSE) then
    return { 'BACKING_OFF', call.now, stored[6] or '', tonumber(stored[7]) }
  end
  redis.call('HSET', call.keys.graph, 'builder', builder, 'building', commit, 'lease_until', call.now + seconds)
  if not version then
    redis.call('EXPIRE', call.keys.graph, GraphAge.GRAPH_DAYS * GraphAge.DAY)
  end
  return { 'GRANTED', call.now }
end
