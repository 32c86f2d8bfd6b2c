-- record_head: notes the newest commit of a branch, and that it was looked at now.
-- KEYS: 1 head, 2 status log, 3 events channel, 4 webhook
-- ARGV: 1 branch, 2 commit, 3 how it was learnt: local, github, 4 recent commits of the branch, separated by spaces, 5 ETag
--       of the answer or '', 6 '1' if it was answered in whole, not by "not modified"
-- Returns { MOVED, now, previous commit or '' } or { UNCHANGED, now, commit }
head_key, status_log_key, events_channel = KEYS[1], KEYS[2], KEYS[3]
branch = ARGV[1]
local commit, how, recent, etag, is_whole = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6] == '1'

local previous = redis.call('HGET', head_key, 'commit')
redis.call('HSET', head_key, 'checked_at', now, 'source_at', now, 'etag', etag)
if is_whole then
  redis.call('HSET', head_key, 'read_at', now)
end
redis.call('HDEL', head_key, 'refresh_at', 'failed')
if previous == commit then
  return { 'UNCHANGED', now, commit }
end
set_head(commit, previous, how, recent)
if how == 'github' and previous then
  -- Had the webhook told of the push, the head would be known: until it tells of another, heads are asked for.
  redis.call('DEL', KEYS[4])
end
return { 'MOVED', now, previous or '' }
