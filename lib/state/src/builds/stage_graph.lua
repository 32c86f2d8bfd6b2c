-- stage_graph: stages a part of a new graph beside the old one, and renews the builder's lease. The parts of a dead builder
-- expire. Every part has its own offset, so that a part that is sent again after a lost reply is stored once. A Redis that
-- lost its last writes may lack an earlier part and still know the builder: each part says how much comes before it.
-- KEYS: `graph`, `staging`: the staging key
-- ARGV: that of admission/request, with `builder`, `lease`: seconds that it lasts, `form`: BEGIN (empties the staging key), HASH or STRING, and
-- `before`: number of fields, or bytes, before this part. The part itself follows as separate arguments, since JSON would encode its
-- megabytes twice: fields and values of a HASH, or the text of a STRING
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
    Chunks.call_in_chunks('HSET', staging_key, Chunks.slice(ARGV, 2))
  else
    redis.call('SETRANGE', staging_key, before, ARGV[2])
  end
  if form ~= 'BEGIN' then
    redis.call('EXPIRE', staging_key, STAGED_SECONDS)
  end
  return { 'STAGED', call.now }
end
