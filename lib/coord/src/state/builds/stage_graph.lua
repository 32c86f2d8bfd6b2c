-- stage_graph: stages a part of a new graph beside the old one, and renews the builder's lease. The parts of a dead builder
-- expire. Every part is written to a place of its own, so that one that is sent again after a lost reply exists once. A Redis
-- that has lost its last writes may lack an earlier part and still know the builder: each part says how much comes before it.
-- KEYS: 1 graph, 2 the staging key
-- ARGV: 1 builder, 2 seconds that the lease lasts, 3 BEGIN (empties the staging key), HASH or STRING,
--      4 number of fields, or bytes, before this part, 5... HASH: fields and values; STRING: text
-- Returns { STAGED, now } or { LOST, now }: the lease is another's, or { TORN, now }: an earlier part is missing
local Chunks = require('chunks')
local Clock = require('clock')

return function(KEYS, ARGV)
  local call = {}
  local graph_key, staging_key = KEYS[1], KEYS[2]
  local builder, seconds, form, before = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
  local arguments = ARGV
  Clock.begin(call)

  local STAGED_SECONDS = 3600

  if redis.call('HGET', graph_key, 'builder') ~= builder then
    return { 'LOST', call.now }
  end
  redis.call('HSET', graph_key, 'lease_until', call.now + seconds)
  if form == 'BEGIN' then
    redis.call('UNLINK', staging_key)
  elseif redis.call(form == 'HASH' and 'HLEN' or 'STRLEN', staging_key) < before then
    return { 'TORN', call.now }
  elseif form == 'HASH' then
    Chunks.call_in_chunks('HSET', staging_key, Chunks.part_of(arguments, 5))
  else
    redis.call('SETRANGE', staging_key, before, arguments[5])
  end
  if form ~= 'BEGIN' then
    redis.call('EXPIRE', staging_key, STAGED_SECONDS)
  end
  return { 'STAGED', call.now }
end
