-- stage_graph: stages a part of a new graph beside the old one, and renews the builder's lease. The parts of a dead builder
-- expire. Every part is written to a separate place, so that one that is sent again after a lost reply exists once. A Redis
-- that has lost its last writes may lack an earlier part and still know the builder: each part says how much comes before it.
-- KEYS: `graph`, `staging`: the staging key
-- ARGV: that of admission/request, with `builder`, `lease`: seconds that it lasts, `form`: BEGIN (empties the staging key), HASH or STRING, and
-- `before`: number of fields, or bytes, before this part. Behind it the part itself, megabytes that would be encoded twice in JSON: of a HASH
-- fields and values, of a STRING the text
-- Returns { STAGED, now } or { LOST, now }: the builder lost the lease, or { TORN, now }: an earlier part is missing
local Chunks = require('chunks')
local Clock = require('clock')
local Request = require('admission/request')

return function(KEYS, ARGV)
  local call = Request.read(KEYS, ARGV)
  Clock.begin(call)
  local staging_key, form, before = call.keys.staging, call.request.form, call.request.before

  local STAGED_SECONDS = 3600

  if redis.call('HGET', call.keys.graph, 'builder') ~= call.request.builder then
    return { 'LOST', call.now }
  end
  redis.call('HSET', call.keys.graph, 'lease_until', call.now + call.request.lease)
  if form == 'BEGIN' then
    redis.call('UNLINK', staging_key)
  elseif redis.call(form == 'HASH' and 'HLEN' or 'STRLEN', staging_key) < before then
    return { 'TORN', call.now }
  elseif form == 'HASH' then
    Chunks.call_in_chunks('HSET', staging_key, Chunks.part_of(ARGV, 2))
  else
    redis.call('SETRANGE', staging_key, before, ARGV[2])
  end
  if form ~= 'BEGIN' then
    redis.call('EXPIRE', staging_key, STAGED_SECONDS)
  end
  return { 'STAGED', call.now }
end
