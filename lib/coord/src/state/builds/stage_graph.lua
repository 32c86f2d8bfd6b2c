-- stage_graph: stages a part of a new graph beside the old one, and renews the builder's lease. The parts of a dead builder
-- expire. Every part is written to a place of its own, so that one that is sent again after a lost reply exists once.
-- KEYS: 1 graph, 2 the staging key
-- ARGV: 1 builder, 2 seconds that the lease lasts, 3 BEGIN (empties the staging key), HASH or STRING,
--      4... HASH: fields and values; STRING: byte offset of the text, text
-- Returns { STAGED, now } or { LOST, now }: the lease is another's
local graph_key, staging_key = KEYS[1], KEYS[2]
local builder, seconds, form = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local arguments = ARGV
-- @include clock
-- @include chunks

local STAGED_SECONDS = 3600

if redis.call('HGET', graph_key, 'builder') ~= builder then
  return { 'LOST', now }
end
redis.call('HSET', graph_key, 'lease_until', now + seconds)
if form == 'BEGIN' then
  redis.call('UNLINK', staging_key)
elseif form == 'HASH' then
  call_in_chunks('HSET', staging_key, part_of(arguments, 4))
else
  redis.call('SETRANGE', staging_key, arguments[4], arguments[5])
end
if form ~= 'BEGIN' then
  redis.call('EXPIRE', staging_key, STAGED_SECONDS)
end
return { 'STAGED', now }
