-- patch_graph: changes the stored graph of one commit into that of another by a patch, atomically, and announces it.
-- KEYS: `graph`, `status_log`, `events`, `graph_json`, `staging` key of that, `adjacency`, `graph_scan`
-- ARGV: that of admission/request, with `builder`, `branch`, `commit`, `base`: the commit that the patch is for, `json_bytes`: staged bytes of
-- the JSON, and `counts` of the arguments that follow, part by part, as the commands take them: `fields` of the graph with their values,
-- `adjacency` fields with their values, `adjacency_gone`: fields to delete, `scan`, and `scan_gone`
-- Returns { PUBLISHED, now }, { LOST, now }: the builder lost the lease, { REBASED, now }: the stored graph is of another commit,
--           or { TORN, now }: the staged JSON is not whole; these three change nothing
local Chunks = require('chunks')
local Clock = require('clock')
local Request = require('admission/request')
local Publish = require('builds/publish')

return function(KEYS, ARGV)
  local call = Request.read(KEYS, ARGV)
  Clock.begin(call)
  local keys, request, counts = call.keys, call.request, call.request.counts

  local stored = redis.call('HMGET', keys.graph, 'builder', 'version')
  if stored[1] ~= request.builder then
    return { 'LOST', call.now }
  end
  if stored[2] ~= request.base then
    return { 'REBASED', call.now }
  end
  if not Publish.is_whole(keys.staging, 'STRING', request.json_bytes) then
    return { 'TORN', call.now }
  end
  local first = 2
  local function next_part(count)
    local part = Chunks.slice(ARGV, first, count)
    first = first + count
    return part
  end
  local fields = next_part(counts.fields)
  Chunks.call_in_chunks('HSET', keys.adjacency, next_part(counts.adjacency))
  Chunks.call_in_chunks('HDEL', keys.adjacency, next_part(counts.adjacency_gone))
  Chunks.call_in_chunks('HSET', keys.graph_scan, next_part(counts.scan))
  Chunks.call_in_chunks('HDEL', keys.graph_scan, next_part(counts.scan_gone))
  Publish.replace(keys.graph_json, keys.staging)
  Publish.finish_build(call, request.branch, request.commit, fields, { keys.adjacency, keys.graph_json, keys.graph_scan })
  return { 'PUBLISHED', call.now }
end
