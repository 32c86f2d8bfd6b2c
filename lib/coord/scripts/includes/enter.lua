-- What every request passes before its operation, in this order: how often the caller asks, and the head of the branch. Who the
-- caller is has been verified before. Needs: read_person, write_person, write_repository, one_more, has_commit.
-- KEYS: 1 head, 2 limits of the person, 3 limits of the repository, 4 webhook, 5 mark
-- ARGV: 1 branch, 2 user id, 3 user name, 4 agent id or '', 5 READ, CLAIM, RELEASE, or MARKED: a claim whose repository
--       has just been put on the list of what is due, 6 what the request costs, then rates as one_more() takes
--       them: 7 of one agent, 8 of one person, 9 of the repository, 10 of questions to the source about commits and 11 about
--       branches that are not known, for one person,
--       12 head of the branch as a source just told it, or '' for the stored one, 13 seconds after which the stored one is
--       asked for again, or '' for never, or ANY where none will do as well, 14 most seconds that it may be old, or '' where any age will do, 15 seconds for
--       which it is trusted where a webhook tells of pushes, 16 '1' where the source has been asked about the caller's commits,
--       17 commits that the caller's working copy contains, separated by spaces
local ENTRY_KEYS, ENTRY_ARGUMENTS = 5, 17
-- How long one who is to refresh the head has for it, in seconds.
local REFRESH_TURN = 10
-- The longest time for which nobody asks for a head after that has failed, in seconds: more is of a clock that was set back.
local MOST_PAUSE = 3660
-- How long a branch is remembered of which nothing is known but that somebody asks for its head.
local UNKNOWN_FOR = 60
-- How long an ETag is trusted after an answer in whole: should it lie, the head would stand still for ever.
local ETAG_FOR = 300

local repo_head, known_commits, mark, person_text
-- Seconds since somebody looked whether the head is still the stored one, '' where a source just told it; and '1' if it
-- should have been asked for again and could not.
local head_age, is_unconfirmed = '', '0'
local is_asked = ARGV[16] == '1'

-- What came with the stored head, if that is still to be trusted, or ''.
local function trusted_etag()
  local read_at, etag = unpack(redis.call('HMGET', head_key, 'read_at', 'etag'))
  return now - (read_at or 0) < ETAG_FOR and etag or ''
end

-- Counts a question to the source about a branch that is not known, or else about commits; the answer if there were too many.
local function count_question(is_branch)
  if ARGV[is_branch and 11 or 10] == '' then
    return nil
  end
  if not person_read then
    read_person(KEYS[2], person_text)
  end
  local wait, arrival = one_more(is_branch and by_branches or by_questions, 1, ARGV[is_branch and 11 or 10])
  if wait > 0 then
    return { 'LIMITED', now, wait, is_branch and 'NEW' or 'SOURCE' }
  end
  if is_branch then
    by_branches = arrival
  else
    by_questions = arrival
  end
  write_person()
end

-- The answer where only the source can tell.
local function ask_source()
  return count_question(false) or { 'ASK_SOURCE', now, repo_head, head_age, trusted_etag() }
end

-- Counts the request; the answer if there were too many. A claim that comes too often passes as a renewal if `is_renewal`
-- says that it is one.
local function count_request(repository_text, is_renewal)
  if ARGV[7] == '' and ARGV[8] == '' and ARGV[9] == '' then
    return nil
  end
  local kind, cost = ARGV[5] == 'MARKED' and 'CLAIM' or ARGV[5], tonumber(ARGV[6])
  read_person(KEYS[2], person_text)
  local requests, renewals = string.match(repository_text or '', '^(%d+) (%d+)$')
  requests, renewals = tonumber(requests or 0), tonumber(renewals or 0)
  -- How long to wait, and whose limit that is: the longest of agent, person and repository.
  local function waits(agent, person, repository, longer)
    local agent_wait, person_wait, repository_wait
    agent_wait, agent = one_more(agent, cost, ARGV[7], longer)
    person_wait, person = one_more(person, cost, ARGV[8], longer)
    repository_wait, repository = one_more(repository, cost, ARGV[9], longer)
    local wait, whose = agent_wait, 'HOLDER'
    if person_wait > wait then
      wait, whose = person_wait, 'PERSON'
    end
    if repository_wait > wait then
      wait, whose = repository_wait, 'REPOSITORY'
    end
    return wait, whose, agent, person, repository
  end
  local function pass_as_renewal()
    local wait, whose, agent, person, repository = waits(by_agents_renewals, by_renewals, renewals)
    if wait > 0 then
      return { 'LIMITED', now, wait, whose }
    end
    by_agents_renewals = agent
    if kind == 'CLAIM' and not is_renewal() then
      -- To find that out was not free.
      write_person()
      return false
    end
    by_renewals = person
    write_person()
    write_repository(KEYS[3], requests, repository)
  end
  if kind == 'RELEASE' then
    return pass_as_renewal()
  end
  local wait, whose, agent, person, repository =
    waits(by_agent, by_person, requests, kind == 'CLAIM' and CLAIMS_BURST or 1)
  if wait > 0 then
    local limited = { 'LIMITED', now, wait, whose }
    if kind == 'CLAIM' then
      local answer = pass_as_renewal()
      return answer ~= nil and limited or nil
    end
    return limited
  end
  by_agent, by_person = agent, person
  write_person()
  write_repository(KEYS[3], repository, renewals)
end

-- Nil, or the answer: { LIMITED, now, seconds until the next is let in, HOLDER or PERSON or REPOSITORY or SOURCE or NEW }
--      or { REFRESH_HEAD, now, commit or '', etag or '' }: the head has to be asked for, by this caller
--      or { AWAIT_HEAD, now, seconds }: it is being asked for by another (0), or cannot be asked for in these seconds
--      or { UNKNOWN_HEAD, now }: no head is known for this branch, and nobody here can ask
local function enter(is_renewal)
  head_key, branch = KEYS[1], ARGV[1]
  user_id, user_name, agent_id = ARGV[2], ARGV[3], ARGV[4]
  known_commits = ARGV[17]
  local stored_limits, has_webhook
  person_text, stored_limits, has_webhook, mark = unpack(redis.call('MGET', unpack(KEYS, 2, ENTRY_KEYS)))
  local limited = count_request(stored_limits, is_renewal)
  if limited then
    return limited
  end

  repo_head = ARGV[12]
  if repo_head ~= '' then
    return nil
  end
  local stored = redis.call('HMGET', head_key, 'commit', 'checked_at', 'refresh_at', 'failed')
  repo_head = stored[1]
  if repo_head then
    head_age = now - (stored[2] or 0)
    if head_age < 0 then
      -- The clock was set back: it is as old as can be.
      head_age = now
    end
  end
  if ARGV[13] == 'ANY' then
    repo_head = repo_head or ''
    return nil
  end
  if ARGV[13] == '' then
    return not repo_head and { 'UNKNOWN_HEAD', now } or nil
  end
  local refresh_after, most_age = tonumber(ARGV[13]), tonumber(ARGV[14])
  if has_webhook then
    refresh_after = math.max(refresh_after, tonumber(ARGV[15]))
  end
  if repo_head and head_age <= refresh_after then
    return nil
  end
  local refresh_at = tonumber(stored[3] or 0)
  if refresh_at <= now or refresh_at > now + (stored[4] and MOST_PAUSE or REFRESH_TURN) then
    local too_many = not repo_head and count_question(true)
    if too_many then
      return too_many
    end
    local answer = { 'REFRESH_HEAD', now, repo_head or '', '' }
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
