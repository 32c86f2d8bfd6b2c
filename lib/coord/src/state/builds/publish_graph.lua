-- publish_graph: replaces the stored graph by the staged one, atomically, and announces it.
-- KEYS: 1 graph, 2 status log, 3 events channel, 4... pairs of a live key and its staging key
-- ARGV: 1 builder, 2 branch, 3 commit, 4... further fields of the graph and their values
-- Returns { PUBLISHED, now } or { LOST, now }: the lease is another's; nothing changed
local keys, pairs_of_keys = { graph = KEYS[1], status_log = KEYS[2], events = KEYS[3] }, { unpack(KEYS, 4) }
local builder, branch, commit, fields = ARGV[1], ARGV[2], ARGV[3], { unpack(ARGV, 4) }
-- @include builds/publish

if redis.call('HGET', keys.graph, 'builder') ~= builder then
  return { 'LOST', now }
end
local parts = {}
for index = 1, #pairs_of_keys, 2 do
  replace(pairs_of_keys[index], pairs_of_keys[index + 1])
  parts[#parts + 1] = pairs_of_keys[index]
end
finish_build(branch, commit, fields, parts)
return { 'PUBLISHED', now }
