-- The admission before every operation, in this order: the rate limits, and the head of the branch. The caller was verified before.
local Answer = require('answer')
local Clock = require('clock')
local Limits = require('admission/limits')
local Request = require('admission/request')

local Admission = {}

-- Seconds of a caller's lease to refresh the head.
local REFRESH_LEASE = 10

-- The call of a function with an admission.
function Admission.begin(KEYS, ARGV)
  local call = Request.begin(KEYS, ARGV)
  Clock.begin(call)
  Limits.begin(call)
  -- The head of the branch: commit or ''; seconds since it was last confirmed, '' if a source has just returned it; '1' if it
  -- should have been fetched again but could not be. `is_kept`: a different head cannot be recorded. `has_webhook`: a webhook
  -- delivers pushes.
  call.head = { commit = '', age = '', is_unconfirmed = '0' }
  -- call.mark: of the repository: see mark_due.lua
  -- call.governed: version of the registry of intents, false if there are none
  return call
end

-- The ETag of the stored head, if it is still trusted, or nil.
function Admission.trusted_etag(call)
  -- Seconds after a full response. Without this limit, a wrong ETag would hide every later head.
  local ETAG_FOR = 300
  local read_at, etag = unpack(redis.call('HMGET', call.keys.head, 'read_at', 'etag'))
  return call.now - (read_at or 0) < ETAG_FOR and etag ~= '' and etag or nil
end

-- Finds the head of the branch; returns nil, or a denial if there is no usable one.
function Admission.find_head(call)
  local commit, checked_at, refresh_at, has_failed =
    unpack(redis.call('HMGET', call.keys.head, 'commit', 'checked_at', 'refresh_at', 'failed'))
  call.head.commit = commit or ''
  if commit then
    call.head.age = call.now - (checked_at or 0)
    if call.head.age < 0 then
      -- The clock was set back: the age is the maximum.
      call.head.age = call.now
    end
  end
  local refresh_after, most_age = call.request.refresh_after, call.request.most_age
  if call.request.any_head then
    return nil
  elseif not refresh_after then
    return not commit and { 'UNKNOWN_HEAD', call.now } or nil
  end
  if call.head.has_webhook then
    -- Seconds that the head is trusted while a webhook delivers pushes.
    local TRUSTED_FOR = 3600
    refresh_after = math.max(refresh_after, TRUSTED_FOR)
  end
  if commit and call.head.age <= refresh_after then
    return nil
  end
  -- Maximum pause in seconds after a failed fetch; a longer one means that the clock was set back.
  local MAX_PAUSE = 3660
  refresh_at = tonumber(refresh_at or 0)
  if refresh_at <= call.now or refresh_at > call.now + (has_failed and MAX_PAUSE or REFRESH_LEASE) then
    local too_many = not commit and Limits.count(call, 'BRANCH')
    if too_many then
      return too_many
    end
    -- If the store cannot be written, no caller can get the lease, and all callers would fetch. Then the known head will
    -- do, unless it must be fresh; nothing can be claimed then anyway.
    local write = commit and not most_age and redis.pcall or redis.call
    local reply = write('HSET', call.keys.head, 'refresh_at', call.now + REFRESH_LEASE)
    if type(reply) ~= 'number' then
      call.head.is_unconfirmed, call.head.is_kept = '1', true
      return nil
    end
    redis.call('HDEL', call.keys.head, 'failed')
    if commit then
      return Answer.reply(call, 'REFRESH_HEAD', { head = commit, etag = Admission.trusted_etag(call) })
    end
    -- Seconds that an unknown branch is remembered while its head is fetched.
    local UNKNOWN_FOR = 60
    redis.call('EXPIRE', call.keys.head, UNKNOWN_FOR)
    return Answer.reply(call, 'REFRESH_HEAD', {})
  end
  if not commit or (most_age and call.head.age > math.max(most_age, refresh_after)) then
    return Answer.reply(call, 'AWAIT_HEAD', { retry_after_seconds = has_failed and refresh_at - call.now or nil })
  end
  if has_failed or call.head.age > refresh_after + REFRESH_LEASE then
    call.head.is_unconfirmed = '1'
  end
end

-- Nil, or the denial: LIMITED (Limits.denial())
--      or REFRESH_HEAD: this caller must fetch the head; the stored `head`, and its `etag`, absent for none
--      or AWAIT_HEAD: another caller is fetching it, or it cannot be fetched for `retry_after_seconds`
--      or { UNKNOWN_HEAD, now }: the head of this branch is unknown, and this process has no source
function Admission.admit(call, is_renewal)
  local keys, limits, request = call.keys, call.stored_limits, call.request
  limits.person, limits.repository, call.head.has_webhook, call.mark, call.governed, request.queue, request.taken =
    unpack(redis.call('MGET', keys.person_limits, keys.repository_limits, keys.webhook, keys.mark, keys.governed, keys.queue, keys.taken))
  if request.cost > 0 and Limits.is_limited(call) then
    local limited = Limits.count(call, 'REQUEST', is_renewal)
    if limited then
      return limited
    end
  end
  if request.fetched_head then
    call.head.commit = request.fetched_head
    return nil
  end
  return Admission.find_head(call)
end

return Admission
