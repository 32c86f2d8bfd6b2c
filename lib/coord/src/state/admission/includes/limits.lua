-- Rate limits, by the generic cell rate algorithm (GCRA): a theoretical arrival time (milliseconds) for each, at which all that
-- was let in has been worked off at the sustained rate. Needs: keys, request.
-- Under the person's key: those of the person's requests, renewals and releases, questions to the source, and new branches;
-- then, after a comma each, the latest agents, with their names and those of their requests, and their renewals and releases. Under the
-- repository's: of all requests, and all renewals and releases.
-- Where the store cannot be written, nothing is counted, and nobody is kept from reading by that: hence pcall.
-- @include clock

-- What the store had of the person and of the repository, texts; and of the person, what has been counted since.
local stored_limits, arrivals = { person = false, repository = false }, nil

-- Counts the 'REQUEST', or a question to the source about 'COMMITS' or about a branch that is not known ('BRANCH'); nil, or the
-- denial if there were too many: { LIMITED, now, seconds until the next is let in, HOLDER or PERSON or REPOSITORY or SOURCE or NEW }.
-- A claim that comes too often passes as a renewal if `is_renewal` says that it is one.
local function count(what, is_renewal)
  -- Claims may come where reads may not any more: their burst is longer by half.
  local CLAIMS_BURST = 1.5
  -- In how many seconds something of this `cost` may come (0: now), and the arrival time after it. `rate` is the milliseconds
  -- between two at the sustained rate and how many may come at once, or '' for no limit.
  local function one_more(arrival, cost, rate, longer)
    if rate == '' then
      return 0, arrival
    end
    local interval, burst = string.match(rate, '^(%d+) (%d+)$')
    interval, burst = tonumber(interval), tonumber(burst)
    local full = interval * burst
    -- Further ahead than any request can have moved it: the clock was set back, or the limit changed.
    if arrival > now_ms + full * CLAIMS_BURST then
      arrival = 0
    end
    arrival = math.max(arrival, now_ms) + interval * math.min(cost, burst)
    return math.max(0, math.ceil((arrival - now_ms - full * (longer or 1)) / 1000)), arrival
  end

  -- What stands before the numbers of the caller's agent. Neither `,` nor `=` is in a name.
  local function agent_mark()
    return ',' .. (request.agent_id ~= '' and request.agent_id or '=') .. ' '
  end

  local function read_arrivals()
    arrivals =
      { requests = 0, renewals = 0, questions = 0, branches = 0, agent_requests = 0, agent_renewals = 0, other_agents = '' }
    local requests, renewals, questions, branches, agents = string.match(stored_limits.person or '', '^(%d+) (%d+) (%d+) (%d+)(.*)$')
    if not requests then
      return
    end
    arrivals.requests, arrivals.renewals = tonumber(requests), tonumber(renewals)
    arrivals.questions, arrivals.branches = tonumber(questions), tonumber(branches)
    local first, last = string.find(agents, agent_mark(), 1, true)
    if first then
      local agent_requests, agent_renewals, rest = string.match(agents, '^(%d+) (%d+)()', last + 1)
      arrivals.agent_requests, arrivals.agent_renewals = tonumber(agent_requests), tonumber(agent_renewals)
      arrivals.other_agents = string.sub(agents, 1, first - 1) .. string.sub(agents, rest)
      return
    end
    -- One more agent: the one that was silent for longest is forgotten.
    local MOST_AGENTS = 16
    local cut = 0
    for _ = 1, MOST_AGENTS do
      cut = string.find(agents, ',', cut + 1, true)
      if not cut then
        break
      end
    end
    arrivals.other_agents = cut and string.sub(agents, 1, cut - 1) or agents
  end

  local function write_arrivals()
    -- The key outlives the latest of these, because that of another agent may be later. Milliseconds.
    local LEAST_KEPT, MOST_KEPT = 60000, 3600000
    local latest = math.max(arrivals.requests, arrivals.renewals, arrivals.questions, arrivals.branches, arrivals.agent_requests,
      arrivals.agent_renewals)
    if latest > now_ms then
      local text = string.format('%.0f %.0f %.0f %.0f%s%.0f %.0f', arrivals.requests, arrivals.renewals, arrivals.questions,
        arrivals.branches, agent_mark(), arrivals.agent_requests, arrivals.agent_renewals)
      local kept = math.min(math.max(latest - now_ms, LEAST_KEPT), MOST_KEPT)
      redis.pcall('SET', keys.person_limits, text .. arrivals.other_agents, 'PX', string.format('%.0f', kept))
    end
  end

  local function write_repository_arrivals(requests, renewals)
    local MOST_KEPT = 3600000
    local latest = math.max(requests, renewals)
    if latest > now_ms then
      local kept = math.min(latest - now_ms, MOST_KEPT)
      local text = string.format('%.0f %.0f', requests, renewals)
      redis.pcall('SET', keys.repository_limits, text, 'PX', string.format('%.0f', kept))
    end
  end

  local function count_question(kind, rate, whose)
    if rate == '' then
      return nil
    end
    local wait, arrival = one_more(arrivals[kind], 1, rate)
    if wait > 0 then
      return { 'LIMITED', now, wait, whose }
    end
    arrivals[kind] = arrival
    write_arrivals()
  end

  local function count_request()
    local kind = request.kind == 'MARKED' and 'CLAIM' or request.kind
    local requests, renewals = string.match(stored_limits.repository or '', '^(%d+) (%d+)$')
    requests, renewals = tonumber(requests or 0), tonumber(renewals or 0)
    -- How long to wait, and whose limit that is: the longest of agent, person and repository.
    local function waits(agent, person, repository, longer)
      local cost = tonumber(request.cost)
      local agent_wait, person_wait, repository_wait
      agent_wait, agent = one_more(agent, cost, request.agent_rate, longer)
      person_wait, person = one_more(person, cost, request.person_rate, longer)
      repository_wait, repository = one_more(repository, cost, request.repository_rate, longer)
      local wait, whose = agent_wait, 'HOLDER'
      if person_wait > wait then
        wait, whose = person_wait, 'PERSON'
      end
      if repository_wait > wait then
        wait, whose = repository_wait, 'REPOSITORY'
      end
      return wait, whose, agent, person, repository
    end
    local limited
    if kind ~= 'RELEASE' then
      local longer = kind == 'CLAIM' and CLAIMS_BURST or 1
      local wait, whose, agent, person, repository = waits(arrivals.agent_requests, arrivals.requests, requests, longer)
      if wait == 0 then
        arrivals.agent_requests, arrivals.requests = agent, person
        write_arrivals()
        write_repository_arrivals(repository, renewals)
        return nil
      end
      limited = { 'LIMITED', now, wait, whose }
      if kind ~= 'CLAIM' then
        return limited
      end
    end
    local wait, whose, agent, person, repository = waits(arrivals.agent_renewals, arrivals.renewals, renewals)
    if wait > 0 then
      return limited or { 'LIMITED', now, wait, whose }
    end
    arrivals.agent_renewals = agent
    if limited and not is_renewal() then
      -- To find that out was not free.
      write_arrivals()
      return limited
    end
    arrivals.renewals = person
    write_arrivals()
    write_repository_arrivals(requests, repository)
  end

  if not arrivals then
    read_arrivals()
  end
  if what == 'COMMITS' then
    return count_question('questions', request.commit_rate, 'SOURCE')
  elseif what == 'BRANCH' then
    return count_question('branches', request.branch_rate, 'NEW')
  end
  return count_request()
end
