-- push_head: records a push to a branch that a webhook delivers. The delivery is signed, but it may be late, repeated, or replayed; so it
-- counts only if it continues from the known head.
-- KEYS: `head`, `status_log`, `events`, `webhook`
-- ARGV: that of admission/request, with `branch`, `before`: the commit before the push, absent for a new branch, `after`: the one after it,
-- absent if the branch was deleted, `commits` of the push that are on the branch after it, newest first, separated by spaces, `is_reset`: the
-- branch was reset to other commits, `pushed_at`: time of the push, Unix seconds, and `alive_for`: seconds for which the webhook counts as
-- alive
-- Returns { MOVED, now }, { UNCHANGED, now }
--      or { ASK_SOURCE, now }: it does not continue from the known head, which the next request fetches. A repeated delivery
--           is UNCHANGED
--      or { UNUSED, now }: no request has used this branch
local Clock = require('clock')
local Request = require('admission/request')
local SetHead = require('heads/set_head')

return function(KEYS, ARGV)
  local call = Request.read(KEYS, ARGV)
  local request = call.request
  local after, commits, pushed_at, alive_for = request.after or '', request.commits, request.pushed_at, request.alive_for
  Clock.begin(call)

  local commit, known_pushed_at, source_at, recent, asked_for =
    unpack(redis.call('HMGET', call.keys.head, 'commit', 'pushed_at', 'source_at', 'recent', 'asked_for'))
  if not commit then
    return { 'UNUSED', call.now }
  end
  known_pushed_at = tonumber(known_pushed_at or 0)
  if after == commit then
    -- An older delivery does not confirm the head.
    if pushed_at > known_pushed_at then
      redis.call('HSET', call.keys.head, 'checked_at', call.now, 'pushed_at', pushed_at)
      SetHead.keep_head(call)
      redis.call('SET', call.keys.webhook, call.now, 'EX', alive_for)
    end
    return { 'UNCHANGED', call.now }
  end
  -- A push from before the time at which the source itself named `commit` is outdated.
  if after == '' or request.before ~= commit or pushed_at <= known_pushed_at or pushed_at < tonumber(source_at or 0) then
    -- The source is asked once for each delivery, named by its time and its commit. Beyond the maximum of names, all
    -- deliveries up to the latest count as asked for: the source's next response includes them.
    local floor, names = string.match(asked_for or '', '^(%d+)(.*)$')
    floor, names = tonumber(floor or 0), names or ''
    local name = string.format(' %.0f:%s', pushed_at, after)
    if after == '' and string.find(names .. ' ', name .. ' ', 1, true) then
      -- A deletion is checked once more: the source may not have known of it yet.
      name = name .. '-'
    end
    if pushed_at < floor or string.find(names .. ' ', name .. ' ', 1, true) then
      return { 'UNCHANGED', call.now }
    end
    -- Maximum bytes of the names of deliveries for which the source was asked.
    local MAX_NAMES = 4096
    if #names > MAX_NAMES then
      floor, names = math.max(floor, pushed_at, known_pushed_at), ''
    end
    redis.call('HSET', call.keys.head, 'asked_for', string.format('%.0f', floor) .. names .. name)
    redis.call('HSET', call.keys.head, 'checked_at', 0)
    redis.call('HDEL', call.keys.head, 'etag', 'refresh_at', 'failed')
    return { 'ASK_SOURCE', call.now }
  end
  if not request.is_reset then
    commits = commits .. ' ' .. (recent or '')
  end
  SetHead.set(call, request.branch, after, commit, 'webhook', commits)
  redis.call('HSET', call.keys.head, 'checked_at', call.now, 'pushed_at', pushed_at, 'etag', '')
  redis.call('HDEL', call.keys.head, 'refresh_at', 'failed')
  redis.call('SET', call.keys.webhook, call.now, 'EX', alive_for)
  return { 'MOVED', call.now }
end
