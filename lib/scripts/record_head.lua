-- record_head: notes the newest commit of a branch.
-- KEYS: 1 head, 2 status log, 3 events channel
-- ARGV: 1 branch, 2 commit, 3 how it was learnt, 4 recent commits of the branch, separated by spaces
-- Returns { MOVED, now, previous commit or '' } or { UNCHANGED, now, commit }
head_key, status_log_key, events_channel = KEYS[1], KEYS[2], KEYS[3]
branch = ARGV[1]
local commit, how, recent = ARGV[2], ARGV[3], ARGV[4]

local previous = redis.call('HGET', head_key, 'commit')
if previous == commit then
  return { 'UNCHANGED', now, commit }
end
redis.call('HSET', head_key, 'commit', commit, 'learnt_at', now, 'how', how, 'recent', recent)
emit({ type = 'head_moved', branch = branch, head = commit, previous = previous or nil })
return { 'MOVED', now, previous or '' }
