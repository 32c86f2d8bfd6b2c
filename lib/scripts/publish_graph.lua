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
for index = 4, #KEYS, 2 do
  redis.call('UNLINK', KEYS[index])
  if redis.call('EXISTS', KEYS[index + 1]) == 1 then
    redis.call('RENAME', KEYS[index + 1], KEYS[index])
  end
end
redis.call('HDEL', graph_key, 'builder', 'building', 'lease_until', 'failed', 'failure', 'failures', 'retry_at')
redis.call('HSET', graph_key, 'version', commit, 'generated_at', now)
call_in_chunks('HSET', graph_key, fields)
emit({ type = 'graph_update', branch = branch, version = commit })
return { 'PUBLISHED', now }
