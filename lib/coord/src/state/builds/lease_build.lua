-- lease_build: lets one builder at a time build the graph of a branch, across processes. The lease of a dead builder
-- expires; a builder that asks again renews its own.
-- KEYS: 1 graph
-- ARGV: 1 builder, 2 commit to build, 3 seconds that the lease lasts
-- Returns { GRANTED, now } or { CURRENT, now }: that commit's graph is already stored
--      or { BUSY, now, commit, until when }: another builder has the lease
--      or { BACKING_OFF, now, reason, until when }: that commit's build has failed recently
local keys = { graph = KEYS[1] }
local builder, commit, seconds = ARGV[1], ARGV[2], tonumber(ARGV[3])
-- @include builds/graph_age

local stored =
  redis.call('HMGET', keys.graph, 'version', 'builder', 'building', 'lease_until', 'failed', 'failure', 'retry_at')
local version, owner, building, lease_until = stored[1], stored[2], stored[3], tonumber(stored[4] or 0)
if version == commit then
  return { 'CURRENT', now }
end
-- A time further ahead than any is set: the clock was set back.
local function is_ahead(time, most)
  return time > now and time <= now + most
end

if owner and owner ~= '' and owner ~= builder and is_ahead(lease_until, seconds) then
  return { 'BUSY', now, building or '', lease_until }
end
-- Seconds of the longest pause after a failure (fail_build).
local MOST_PAUSE = 600
if stored[5] == commit and owner ~= builder and is_ahead(tonumber(stored[7] or 0), MOST_PAUSE) then
  return { 'BACKING_OFF', now, stored[6] or '', tonumber(stored[7]) }
end
redis.call('HSET', keys.graph, 'builder', builder, 'building', commit, 'lease_until', now + seconds)
if not version then
  redis.call('EXPIRE', keys.graph, GRAPH_DAYS * DAY)
end
return { 'GRANTED', now }
