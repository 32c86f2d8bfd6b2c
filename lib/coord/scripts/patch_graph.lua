-- patch_graph: turns the stored graph of one commit into that of another by what differs, at once, and announces it.
-- KEYS: 1 graph, 2 status log, 3 events channel, 4 ready JSON, 5 its staging key, 6 adjacency, 7 scan
-- ARGV: 1 builder, 2 branch, 3 commit, 4 commit that the differences are from, 5 to 9 how many values follow of each: fields of
--       the graph with their values, adjacency fields with their values, adjacency fields to delete, scan fields with their
--       values, scan fields to delete; 10... those
-- Returns { PUBLISHED, now }, { LOST, now }: the lease is another's, or { REBASED, now }: the stored graph is of another
--         commit; nothing changed in either
graph_key, status_log_key, events_channel = KEYS[1], KEYS[2], KEYS[3]
local json_key, json_staging_key = KEYS[4], KEYS[5]
adjacency_key = KEYS[6]
local scan_key = KEYS[7]
local builder, commit, base = ARGV[1], ARGV[3], ARGV[4]
branch = ARGV[2]

local stored = redis.call('HMGET', graph_key, 'builder', 'version')
if stored[1] ~= builder then
  return { 'LOST', now }
end
if stored[2] ~= base then
  return { 'REBASED', now }
end
local next_index = 10
local function take(count)
  local list = {}
  for index = next_index, next_index + tonumber(count) - 1 do
    list[#list + 1] = ARGV[index]
  end
  next_index = next_index + tonumber(count)
  return list
end
local fields = take(ARGV[5])
call_in_chunks('HSET', adjacency_key, take(ARGV[6]))
call_in_chunks('HDEL', adjacency_key, take(ARGV[7]))
call_in_chunks('HSET', scan_key, take(ARGV[8]))
call_in_chunks('HDEL', scan_key, take(ARGV[9]))
replace(json_key, json_staging_key)
finish_build(commit, fields, { adjacency_key, json_key, scan_key })
return { 'PUBLISHED', now }
