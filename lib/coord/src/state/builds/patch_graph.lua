-- patch_graph: changes the stored graph of one commit into that of another by a patch, atomically, and announces it.
-- KEYS: 1 graph, 2 status log, 3 events channel, 4 ready JSON, 5 its staging key, 6 adjacency, 7 scan
-- ARGV: 1 builder, 2 branch, 3 commit, 4 base commit of the patch, 5 staged bytes of the JSON, 6 to 10 number of values in each
--       part: fields of the graph with their values, adjacency fields with their values, adjacency fields to delete, scan
--       fields with their values, scan fields to delete; 11... these values
-- Returns { PUBLISHED, now }, { LOST, now }: the lease is another's, { REBASED, now }: the stored graph is of another commit,
--           or { TORN, now }: the staged JSON is not whole; these three change nothing
local Chunks = require('chunks')
local Clock = require('clock')
local Publish = require('builds/publish')

return function(KEYS, ARGV)
  local call = {}
  call.keys = { graph = KEYS[1], status_log = KEYS[2], events = KEYS[3] }
  local json_key, json_staging_key, adjacency_key, scan_key = KEYS[4], KEYS[5], KEYS[6], KEYS[7]
  local builder, branch, commit, base = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
  local json_bytes, counts, values = ARGV[5], { unpack(ARGV, 6, 10) }, ARGV
  Clock.begin(call)

  local stored = redis.call('HMGET', call.keys.graph, 'builder', 'version')
  if stored[1] ~= builder then
    return { 'LOST', call.now }
  end
  if stored[2] ~= base then
    return { 'REBASED', call.now }
  end
  if not Publish.is_whole(json_staging_key, 'STRING', json_bytes) then
    return { 'TORN', call.now }
  end
  local place = 11
  local function next_part(number)
    local count = tonumber(counts[number])
    local part = Chunks.part_of(values, place, count)
    place = place + count
    return part
  end
  local fields = next_part(1)
  Chunks.call_in_chunks('HSET', adjacency_key, next_part(2))
  Chunks.call_in_chunks('HDEL', adjacency_key, next_part(3))
  Chunks.call_in_chunks('HSET', scan_key, next_part(4))
  Chunks.call_in_chunks('HDEL', scan_key, next_part(5))
  Publish.replace(json_key, json_staging_key)
  Publish.finish_build(call, branch, commit, fields, { adjacency_key, json_key, scan_key })
  return { 'PUBLISHED', call.now }
end
