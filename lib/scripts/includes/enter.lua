-- What every question passes before it is answered, in this order: who asks and what they may do, how often they ask, and
-- the head of the branch. Needs: one_more, count_one, has_commit.
-- KEYS: 1 head, 2 identity, 3 limit of the holder, 4 limit of the repository, 5 limit of what is new, 6 webhook
-- ARGV: 1 branch, 2 user id, or '' for the one that is remembered under `identity`, 3 user name, 4 agent id or '', 5 READ or
--       PUSH: the right that is needed of a remembered one, 6 and 7 milliseconds between two of a holder's questions and how
--       many at once, 8 and 9 the same for the repository, 10 and 11 for credentials and branches that are new to it; 0 is no limit,
--       12 head of the branch as a source just told it, or '' for the stored one, 13 seconds after which the stored one is
--       asked for again, or '' for never, 14 most seconds that it may be old, or '' where any age will do, 15 seconds for
--       which it is trusted where a webhook tells of pushes, 16 '1' where the source has been asked about the caller's commits,
--       17 commits that the caller's working copy contains, separated by spaces
local ENTRY_KEYS, ENTRY_ARGUMENTS = 6, 17
-- How long one who is to refresh the head has for it, in seconds.
local REFRESH_TURN = 10
-- How long a branch is remembered of which nothing is known but that somebody asks for its head.
local UNKNOWN_FOR = 60
-- How long an ETag is trusted after an answer in whole: should it lie, the head would stand still for ever.
local ETAG_FOR = 300

local repo_head, known_commits
-- Seconds since somebody looked whether the head is still the stored one, '' where a source just told it; and '1' if it
-- should have been asked for again and could not.
local head_age, is_unconfirmed = '', '0'
local is_asked = ARGV[16] == '1'

-- What came with the stored head, if that is still to be trusted, or ''.
local function trusted_etag()
  local read_at, etag = unpack(redis.call('HMGET', head_key, 'read_at', 'etag'))
  return now - (read_at or 0) < ETAG_FOR and etag or ''
end

-- The answer where only the source can tell.
local function ask_source()
  return { 'ASK_SOURCE', now, repo_head, head_age, trusted_etag() }
end

-- Nil, or the answer: { UNVERIFIED, now }: nothing is remembered of the caller's credential
--      or { REFUSED, now, whether the credential itself is good: '1' or '0', why }
--      or { NO_PUSH, now, user id }: the caller may only read
--      or { LIMITED, now, seconds until the next is let in, HOLDER or REPOSITORY or NEW }
--      or { REFRESH_HEAD, now, commit or '', etag or '' }: the head has to be asked for, by this caller
--      or { AWAIT_HEAD, now, seconds }: it is being asked for by another (0), or cannot be asked for in these seconds
--      or { UNKNOWN_HEAD, now }: no head is known for this branch, and nobody here can ask
local function enter()
  head_key, branch = KEYS[1], ARGV[1]
  user_id, user_name, agent_id = ARGV[2], ARGV[3], ARGV[4]
  known_commits = ARGV[17]
  local remembered = redis.call('MGET', unpack(KEYS, 2, ENTRY_KEYS))
  local wait, worked_off = one_more(remembered[4], tonumber(ARGV[10]), tonumber(ARGV[11]))
  local function is_new(answer)
    if wait > 0 then
      return { 'LIMITED', now, wait, 'NEW' }
    end
    count_one(KEYS[5], worked_off)
    return answer
  end

  if user_id == '' then
    if not remembered[1] then
      return is_new({ 'UNVERIFIED', now })
    end
    local verdict = cjson.decode(remembered[1])
    if verdict.refused then
      return { 'REFUSED', now, verdict.is_known and '1' or '0', verdict.refused }
    end
    user_id, user_name = verdict.user_id, verdict.user_name
    if ARGV[5] == 'PUSH' and not verdict.can_push then
      return { 'NO_PUSH', now, user_id }
    end
  end

  local holder_wait, by_holder = one_more(remembered[2], tonumber(ARGV[6]), tonumber(ARGV[7]))
  local repository_wait, by_repository = one_more(remembered[3], tonumber(ARGV[8]), tonumber(ARGV[9]))
  if holder_wait > 0 then
    return { 'LIMITED', now, holder_wait, 'HOLDER' }
  elseif repository_wait > 0 then
    return { 'LIMITED', now, repository_wait, 'REPOSITORY' }
  end
  count_one(KEYS[3], by_holder)
  count_one(KEYS[4], by_repository)

  repo_head = ARGV[12]
  if repo_head ~= '' then
    return nil
  end
  local stored = redis.call('HMGET', head_key, 'commit', 'checked_at', 'refresh_at', 'failed')
  repo_head = stored[1]
  if repo_head then
    head_age = now - (stored[2] or 0)
  end
  if ARGV[13] == '' then
    return not repo_head and { 'UNKNOWN_HEAD', now } or nil
  end
  local refresh_after, most_age = tonumber(ARGV[13]), tonumber(ARGV[14])
  if remembered[5] then
    refresh_after = math.max(refresh_after, tonumber(ARGV[15]))
  end
  if repo_head and head_age <= refresh_after then
    return nil
  end
  local refresh_at = tonumber(stored[3] or 0)
  if refresh_at <= now then
    local answer = { 'REFRESH_HEAD', now, repo_head or '', '' }
    if not repo_head then
      answer = is_new(answer)
      if wait > 0 then
        return answer
      end
    end
    redis.call('HSET', head_key, 'refresh_at', now + REFRESH_TURN)
    redis.call('HDEL', head_key, 'failed')
    if repo_head then
      answer[4] = trusted_etag()
    else
      redis.call('EXPIRE', head_key, UNKNOWN_FOR)
    end
    return answer
  end
  if not repo_head or (most_age and head_age > math.max(most_age, refresh_after)) then
    return { 'AWAIT_HEAD', now, stored[4] and refresh_at - now or 0 }
  end
  if stored[4] or head_age > refresh_after + REFRESH_TURN then
    is_unconfirmed = '1'
  end
  return nil
end

-- Whether the caller's working copy lacks the head: '0' no, '1' yes, '?' where none of the caller's commits is known to be of the
-- branch; and whether the source has still to be asked.
local function is_behind_head()
  if has_commit(known_commits, repo_head) then
    return '0', false
  end
  if ARGV[12] == '' then
    local recent = redis.call('HGET', head_key, 'recent') or ''
    for commit in string.gmatch(known_commits, '%S+') do
      if has_commit(recent, commit) then
        return '1', false
      end
    end
  end
  return '?', not is_asked
end
