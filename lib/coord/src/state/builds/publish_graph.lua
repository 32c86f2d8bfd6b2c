-- publish_graph: replaces the stored graph by the staged one, atomically, and announces it.
-- KEYS: 1 graph, 2 status log, 3 events channel, 4... pairs of a live key and its staging key
-- ARGV: 1 builder, 2 branch, 3 commit, 4... for each pair of keys HASH or STRING, and how many fields or bytes are staged;
--      then further fields of the graph and their values
-- Returns { PUBLISHED, now }, { LOST, now }: the lease is another's, or { TORN, now }: what is staged is not whole; both
--           change nothing
local Clock = require('clock')
local Publish = require('builds/publish')

return function(KEYS, ARGV)
  local call = {}
  local pairs_of_keys
  call.keys, pairs_of_keys = { graph = KEYS[1], status_log = KEYS[2], events = KEYS[3] }, { unpack(KEYS, 4) }
  local builder, branch, commit, sizes = ARGV[1], ARGV[2], ARGV[3], { unpack(ARGV, 4, 3 + #pairs_of_keys) }
  local fields = { unpack(ARGV, 4 + #pairs_of_keys) }
  Clock.begin(call)

  if redis.call('HGET', call.keys.graph, 'builder') ~= builder then
    return { 'LOST', call.now }
  end
  for index = 1, #pairs_of_keys, 2 do
    if not Publish.is_whole(pairs_of_keys[index + 1], sizes[index], sizes[index + 1]) then
      return { 'TORN', call.now }
    end
  end
  local parts = {}
  for index = 1, #pairs_of_keys, 2 do
    Publish.replace(pairs_of_keys[index], pairs_of_keys[index + 1])
    parts[#parts + 1] = pairs_of_keys[index]
  end
  Publish.finish_build(call, branch, commit, fields, parts)
  return { 'PUBLISHED', call.now }
end
