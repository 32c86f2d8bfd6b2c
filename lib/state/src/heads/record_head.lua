-- record_head: records the newest commit of a branch, confirmed now.
-- KEYS: `head`, `status_log`, `events`, `webhook`
-- ARGV: that of admission/request, with `branch`, `commit`, `recent` commits of the branch, separated by spaces, `etag` of the response,
-- absent for none, and `is_whole`: it was a full response, not "not modified"
-- Returns { MOVED, now } or { UNCHANGED, now }
local Clock = require('clock')
local Request = require('admission/request')
local SetHead = require('heads/set_head')

return function(KEYS, ARGV)
  local call = Request.read(KEYS, ARGV)
  local request = call.request
  local commit = request.commit
  Clock.begin(call)

  local previous = redis.call('HGET', call.keys.head, 'commit')
  redis.call('HSET', call.keys.head, 'checked_at', call.now, 'source_at', call.now, 'etag', request.etag or '')
  if request.is_whole then
    redis.call('HSET', call.keys.head, 'read_at', call.now)
  end
  redis.call('HDEL', call.keys.head, 'refresh_at', 'failed')
  if previous == commit then
    SetHead.keep_head(call)
    return { 'UNCHANGED', call.now }
  end
  SetHead.set(call, request.branch, commit, previous, 'fetched', request.recent)
  if previous then
    -- A working webhook would have delivered this push. Until it delivers another one, heads are fetched.
    redis.call('DEL', call.keys.webhook)
  end
  return { 'MOVED', call.now }
end
