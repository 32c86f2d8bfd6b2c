-- patch_graph: changes the stored graph of one commit into that of another by a patch, atomically, and announces it.
-- KEYS: 1 graph, 2 status log, 3 events channel, 4 ready JSON, 5 its staging key, 6 adjacency, 7 scan
-- ARGV: 1 builder, 2 branch, 3 commit, 4 base commit of the patch, 5 staged bytes of the JSON, 6 to 10 number of values in each
--       part: fields of the graph with their values, adjacency fields with their values, adjacency fields to delete, scan
--       fields with their values, scan fields to delete; 11... these values
-- Returns { PUBLISHED, now }, { LOST, now }: the lease is another's, { REBASED, now }: the stored graph is of another commit,
--           or { TORN, now }: the staged JSON is not whole; these three change nothing
local keys = { graph = KEYS[1], status_log = KEYS[2], events = KEYS[3] }
local json_key, json_staging_key, adjacency_key, scan_key = KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local builder, branch, commit, base = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local json_bytes, counts, values = ARGV[5], { unpack(ARGV, 6, 10) }, ARGV
-- @include builds/publish

local stored = redis.call('HMGET', keys.graph, 'builder', 'version')
if stored[1] ~= builder then
  return { 'LOST', now }
end
if stored[2] ~= base then
  return { 'REBASED', now }
end
if not is_whole(json_staging_key, 'STRING', json_bytes) then
  return { 'TORN', now }
end
local place = 11
local function next_part(number)
  local count = tonumber(counts[number])
  local part = part_of(values, place, count)
  place = place + count
  return part
end
local fields = next_part(1)
call_in_chunks('HSET', adjacency_key, next_part(2))
call_in_chunks('HDEL', adjacency_key, next_part(3))
call_in_chunks('HSET', scan_key, next_part(4))
call_in_chunks('HDEL', scan_key, next_part(5))
replace(json_key, json_staging_key)
finish_build(branch, commit, fields, { adjacency_key, json_key, scan_key })
return { 'PUBLISHED', now }
