-- What every request passes before its operation, in this order: how often the caller asks, and the head of the branch. Who the
-- caller is has been verified before.
-- @include admission/request
-- @include heads/commits
-- @include admission/limits

-- How long one who is to refresh the head has for it, in seconds.
local REFRESH_TURN = 10

-- The head of the branch: commit or ''; seconds since somebody looked whether it is still that, '' where a source has just given
-- it; '1' if it should have been asked for again and could not be. `is_kept`: nobody can note another one.
local head = { commit = '', age = '', is_unconfirmed = '0' }
local mark -- of the repository: see mark_due.lua

-- What came with the stored head, if that is still to be trusted, or ''.
local function trusted_etag()
  -- After a full response, in seconds: should the ETag lie, the head would stand still for ever.
  local ETAG_FOR = 300
  local read_at, etag = unpack(redis.call('HMGET', keys.head, 'read_at', 'etag'))
  return now - (read_at or 0) < ETAG_FOR and etag or ''
end

-- Finds the head of the branch; nil, or a denial that has to do with it.
local function find_head(has_webhook)
  local commit, checked_at, refresh_at, has_failed =
    unpack(redis.call('HMGET', keys.head, 'commit', 'checked_at', 'refresh_at', 'failed'))
  head.commit = commit or ''
  if commit then
    head.age = now - (checked_at or 0)
    if head.age < 0 then
      -- The clock was set back: it is as old as can be.
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
  if has_webhook then
    -- How long the head is trusted where a webhook tells of pushes, in seconds.
    local TRUSTED_FOR = 3600
    refresh_after = math.max(refresh_after, TRUSTED_FOR)
  end
  if commit and head.age <= refresh_after then
    return nil
  end
  -- The longest time for which nobody asks for a head after that has failed, in seconds: more is of a clock that was set back.
  local MOST_PAUSE = 3660
  refresh_at = tonumber(refresh_at or 0)
  if refresh_at <= now or refresh_at > now + (has_failed and MOST_PAUSE or REFRESH_TURN) then
    local too_many = not commit and count('BRANCH')
    if too_many then
      return too_many
    end
    -- Where the store cannot be written, nobody can have a turn, and everybody would ask: the known head does, unless it must be
    -- young. Nothing can be claimed then anyway.
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
    -- How long a branch is remembered of which nothing is known but that somebody asks for its head.
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

-- Nil, or the denial: { LIMITED, now, seconds until the next is let in, HOLDER or PERSON or REPOSITORY or SOURCE or NEW }
--      or { REFRESH_HEAD, now, commit or '', etag or '' }: the head has to be asked for, by this caller
--      or { AWAIT_HEAD, now, seconds }: it is being asked for by another (0), or cannot be asked for in these seconds
--      or { UNKNOWN_HEAD, now }: no head is known for this branch, and nobody here can ask
local function admit(is_renewal)
  local has_webhook
  stored_limits.person, stored_limits.repository, has_webhook, mark =
    unpack(redis.call('MGET', keys.person_limits, keys.repository_limits, keys.webhook, keys.mark))
  if request.agent_rate ~= '' or request.person_rate ~= '' or request.repository_rate ~= '' then
    local limited = count('REQUEST', is_renewal)
    if limited then
      return limited
    end
  end
  if request.fetched_head ~= '' then
    head.commit = request.fetched_head
    return nil
  end
  return find_head(has_webhook)
end
