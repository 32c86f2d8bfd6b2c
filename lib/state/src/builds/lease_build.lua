-- lease_build: lets one builder at a time build the graph of a branch, across processes. The lease of a dead builder
-- expires; a builder that calls again renews its lease.
-- KEYS: `graph`
-- ARGV: that of admission/request, with `builder`, `commit` to build, and `lease`: seconds that it lasts
-- Returns { GRANTED, now } or { CURRENT, now }: that commit's graph is already stored
--      or { BUSY, now, answer }: another builder has the lease, until `lease_until`
--      or { BACKING_OFF, now, answer }, `reason`, `retry_at`: that commit's build has failed recently
local Answer = require('answer')
local Clock = require('clock')
local GraphAge = require('builds/graph_age')
local Request = require('admission/request')

return function(KEYS, ARGV)
  local call = Request.read(KEYS, ARGV)
  Clock.begin(call)
  local builder, commit, seconds = call.request.builder, call.request.commit, call.request.lease

  local version, owner, lease_until, failed, failure, retry_at =
    unpack(redis.call('HMGET', call.keys.graph, 'version', 'builder', 'lease_until', 'failed', 'failure', 'retry_at'))
  lease_until, retry_at = tonumber(lease_until or 0), tonumber(retry_at or 0)
  if version == commit then
    return { 'CURRENT', call.now }
  end
  -- A time further ahead than `most` does not count: the clock was set back.
  local function is_ahead(time, most)
    return time > call.now and time <= call.now + most
  end

  if owner and owner ~= '' and owner ~= builder and is_ahead(lease_until, seconds) then
    return Answer.reply(call, 'BUSY', { lease_until = lease_until })
  end
  -- Seconds of the longest pause after a failure (fail_build).
  local MAX_PAUSE = 600
  if failed == commit and owner ~= builder and is_ahead(retry_at, MAX_PAUSE) then
    return Answer.reply(call, 'BACKING_OFF', { reason = failure or '', retry_at = retry_at })
  end
  redis.call('HSET', call.keys.graph, 'builder', builder, 'building', commit, 'lease_until', call.now + seconds)
  if not version then
    redis.call('EXPIRE', call.keys.graph, GraphAge.GRAPH_DAYS * GraphAge.DAY)
  end
  return { 'GRANTED', call.now }
end
