-- The admission before every operation, in this order: the rate limits, and the head of the branch. The caller was verified
-- before.
-- @include admission/request
-- @include heads/commits
-- @include admission/limits

-- Seconds of a caller's lease to refresh the head.
local REFRESH_TURN = 10

-- The head of the branch: commit or ''; seconds since it was last confirmed, '' if a source has just returned it; '1' if it
-- should have been fetched again but could not be. `is_kept`: another head cannot be recorded. `has_webhook`: pushes are delivered.
local head = { commit = '', age = '', is_unconfirmed = '0' }
local mark -- of the repository: see mark_due.lua
local governed -- version of the registry of intents, false where there are none

-- The ETag of the stored head, if it is still trusted, or ''.
local function trusted_etag()
  -- Seconds after a full response. With a wrong ETag, the head would otherwise never change.
  local ETAG_FOR = 300
  local read_at, etag = unpack(redis.call('HMGET', keys.head, 'read_at', 'etag'))
  return now - (read_at or 0) < ETAG_FOR and etag or ''
end

-- Finds the head of the branch; returns nil, or a denial because of it.
local function find_head()
  local commit, checked_at, refresh_at, has_failed =
    unpack(redis.call('HMGET', keys.head, 'commit', 'checked_at', 'refresh_at', 'failed'))
  head.commit = commit or ''
  if commit then
    head.age = now - (checked_at or 0)
    if head.age < 0 then
      -- The clock was set back: the age is the maximum.
      head.age = now
    end
  end
  if request.refresh_after == 'ANY' then
    return nil
  end
  if request.refresh_after == '' then
    return not commit and { 'UNKNOWN_HEAD', now } or nil
  end
  local refresh_after, most_age = tonumber(request.refresh_after), tonumber(request.most_age)
  if head.has_webhook then
    -- Seconds that the head is trusted while a webhook delivers pushes.
    local TRUSTED_FOR = 3600
    refresh_after = math.max(refresh_after, TRUSTED_FOR)
  end
  if commit and head.age <= refresh_after then
    return nil
  end
  -- Maximum pause in seconds after a failed fetch; a longer one means that the clock was set back.
  local MOST_PAUSE = 3660
  refresh_at = tonumber(refresh_at or 0)
  if refresh_at <= now or refresh_at > now + (has_failed and MOST_PAUSE or REFRESH_TURN) then
    local too_many = not commit and count('BRANCH')
    if too_many then
      return too_many
    end
    -- If the store cannot be written, nobody can get the lease, and all callers would fetch. Then the known head will do,
    -- unless it must be fresh; nothing can be claimed then anyway.
    local write = commit and not most_age and redis.pcall or redis.call
    local turn = write('HSET', keys.head, 'refresh_at', now + REFRESH_TURN)
    if type(turn) ~= 'number' then
      head.is_unconfirmed, head.is_kept = '1', true
      return nil
    end
    redis.call('HDEL', keys.head, 'failed')
    if commit then
      return { 'REFRESH_HEAD', now, commit, trusted_etag() }
    end
    -- Seconds that an unknown branch is remembered while its head is fetched.
    local UNKNOWN_FOR = 60
    redis.call('EXPIRE', keys.head, UNKNOWN_FOR)
    return { 'REFRESH_HEAD', now, '', '' }
  end
  if not commit or (most_age and head.age > math.max(most_age, refresh_after)) then
    return { 'AWAIT_HEAD', now, has_failed and refresh_at - now or 0 }
  end
  if has_failed or head.age > refresh_after + REFRESH_TURN then
    head.is_unconfirmed = '1'
  end
end

-- Nil, or the denial: { LIMITED, now, seconds until the next request is allowed, HOLDER or PERSON or REPOSITORY or SOURCE or
-- NEW }
--      or { REFRESH_HEAD, now, commit or '', etag or '' }: this caller must fetch the head
--      or { AWAIT_HEAD, now, seconds }: another caller fetches it (0), or it cannot be fetched for these seconds
--      or { UNKNOWN_HEAD, now }: the head of this branch is unknown, and this process has no source
local function admit(is_renewal)
  stored_limits.person, stored_limits.repository, head.has_webhook, mark, governed, request.queue, request.taken = unpack(redis.call(
    'MGET', keys.person_limits, keys.repository_limits, keys.webhook, keys.mark, keys.governed, keys.queue, keys.taken
  ))
  if request.cost ~= '0' and (request.agent_rate ~= '' or request.person_rate ~= '' or request.repository_rate ~= '') then
    local limited = count('REQUEST', is_renewal)
    if limited then
      return limited
    end
  end
  if request.fetched_head ~= '' then
    head.commit = request.fetched_head
    return nil
  end
  return find_head()
end
