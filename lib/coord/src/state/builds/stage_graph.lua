-- stage_graph: writes a part of a new graph beside the old one, and renews the builder's lease. What a builder that died has
-- staged goes away by itself. Whatever it writes it writes at a place of its own, so that a part that is sent twice, because
-- its answer was lost, is there once.
-- KEYS: 1 graph, 2 the staging key
-- ARGV: 1 builder, 2 seconds that the lease lasts, 3 BEGIN (empties the staging key), HASH or STRING,
--       4... HASH: fields and values; STRING: byte at which the text begins, text
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
