-- record_head: records the newest commit of a branch, confirmed now.
-- KEYS: 1 head, 2 status log, 3 events channel, 4 webhook
-- ARGV: 1 branch, 2 commit, 3 recent commits of the branch, separated by spaces, 4 ETag of the response
--       or '', 5 '1' after a full response, not "not modified"
-- Returns { MOVED, now, previous commit or '' } or { UNCHANGED, now, commit }
local Clock = require('clock')
local SetHead = require('heads/set_head')

return function(KEYS, ARGV)
  local call = {}
  call.keys = { head = KEYS[1], status_log = KEYS[2], events = KEYS[3], webhook = KEYS[4] }
  local branch, commit, recent, etag, is_full = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5] == '1'
  Clock.begin(call)

  local previous = redis.call('HGET', call.keys.head, 'commit')
  redis.call('HSET', call.keys.head, 'checked_at', call.now, 'source_at', call.now, 'etag', etag)
  if is_full then
    redis.call('HSET', call.keys.head, 'read_at', call.now)
  end
  redis.call('HDEL', call.keys.head, 'refresh_at', 'failed')
  if previous == commit then
    SetHead.keep_head(call)
    return { 'UNCHANGED', call.now, commit }
  end
  SetHead.set(call, branch, commit, previous, 'fetched', recent)
  if previous then
    -- Had the webhook delivered the push, the head would be known: until it delivers another, heads are fetched.
    redis.call('DEL', call.keys.webhook)
  end
  return { 'MOVED', call.now, previous or '' }
end
