-- stage_graph: writes a part of a new graph beside the old one, and renews the builder's lease. What a builder that died has
-- staged goes away by itself. Whatever it writes it writes at a place of its own, so that a part that is sent twice, because
-- its answer was lost, is there once.
-- KEYS: 1 graph, 2 the staging key
-- ARGV: 1 builder, 2 seconds that the lease lasts, 3 BEGIN (empties the staging key), HASH or STRING,
--       4... HASH: fields and values; STRING: byte at which the text begins, text
-- Returns { STAGED, now } or { LOST, now }: the lease is another's
graph_key = KEYS[1]
local staging_key = KEYS[2]
local builder, seconds, form = ARGV[1], tonumber(ARGV[2]), ARGV[3]

local STAGED_SECONDS = 3600

if redis.call('HGET', graph_key, 'builder') ~= builder then
  return { 'LOST', now }
end
redis.call('HSET', graph_key, 'lease_until', now + seconds)
if form == 'BEGIN' then
  redis.call('UNLINK', staging_key)
elseif form == 'HASH' then
  call_in_chunks('HSET', staging_key, arguments_from(4))
else
  redis.call('SETRANGE', staging_key, ARGV[4], ARGV[5])
end
if form ~= 'BEGIN' then
  redis.call('EXPIRE', staging_key, STAGED_SECONDS)
end
return { 'STAGED', now }
