-- publish_graph: puts the staged graph in the place of the old one, at once, and announces it.
-- KEYS: 1 graph, 2 status log, 3 events channel, 4... pairs of a live key and its staging key
-- ARGV: 1 builder, 2 branch, 3 commit, 4... further fields of the graph and their values
-- Returns { PUBLISHED, now } or { LOST, now }: the lease is another's; nothing changed
graph_key, status_log_key, events_channel = KEYS[1], KEYS[2], KEYS[3]
local builder, commit = ARGV[1], ARGV[3]
branch = ARGV[2]
local fields = arguments_from(4)

if redis.call('HGET', graph_key, 'builder') ~= builder then
  return { 'LOST', now }
end
local parts = {}
for index = 4, #KEYS, 2 do
  replace(KEYS[index], KEYS[index + 1])
  parts[#parts + 1] = KEYS[index]
end
finish_build(commit, fields, parts)
return { 'PUBLISHED', now }
