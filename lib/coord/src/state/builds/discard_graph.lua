-- discard_graph: records that the stored graph of a commit cannot be read, so that it counts as missing and is built again.
-- KEYS: 1 graph
-- ARGV: 1 commit of the unreadable graph
-- Returns { DISCARDED, now } or { OTHER, now }: the stored graph is of another commit, or there is none
local graph_key = KEYS[1]
local commit = ARGV[1]
-- @include clock

if redis.call('HGET', graph_key, 'version') ~= commit then
  return { 'OTHER', now }
end
redis.call('HDEL', graph_key, 'version', 'generated_at')
return { 'DISCARDED', now }
