-- Rate limits, by the generic cell rate algorithm (GCRA). Each has a theoretical arrival time in milliseconds, at which all
-- admitted requests are worked off at the sustained rate. Needs: keys, request.
-- The person's key has those of the person's requests, renewals and releases, lookups at the source, and new branches; then,
-- each after a comma, the latest agents, with those of their requests, and of their renewals and releases. The repository's
-- key has those of all requests, and of all renewals and releases.
-- If the store cannot be written, nothing is counted, and reads still pass: hence pcall.
-- @include clock

-- The stored texts of the person and of the repository; and the person's arrival times with all counted since.
local stored_limits, arrivals = { person = false, repository = false }, nil

-- Counts the 'REQUEST', or lookups at the source, one unless there is an `amount`, for 'COMMITS' or for an unknown 'BRANCH'. Where
-- fewer than `spared` lookups would remain, there were too many. 'WORK' charges the caller for work that has been done: it counts as
-- `amount` further requests, which the next request waits for.
-- Returns nil, or the denial if there were too many: { LIMITED, now, seconds until the next is allowed, HOLDER or PERSON or
-- REPOSITORY or SOURCE or NEW }. A claim above the limit passes as a renewal if `is_renewal` says that it is one.
local function count(what, is_renewal, amount, spared)
  -- Claims may still pass when reads may not: their burst is longer by half.
  local CLAIMS_BURST = 1.5
  -- Seconds until a request of this `cost` may come (0: now), and the arrival time after it. `rate` is the milliseconds
  -- between two at the sustained rate and the burst, or '' for no limit.
  local function one_more(arrival, cost, rate, longer)
    if rate == '' then
      return 0, arrival
    end
    local interval, burst = string.match(rate, '^(%d+) (%d+)$')
    interval, burst = tonumber(interval), tonumber(burst)
    local full = interval * burst
    -- Further ahead than any request can move it: the clock was set back, or the limit has changed.
    if arrival > now_ms + full * CLAIMS_BURST then
      arrival = 0
    end
    arrival = math.max(arrival, now_ms) + interval * math.min(cost, burst)
    return math.max(0, math.ceil((arrival - now_ms - full * (longer or 1)) / 1000)), arrival
  end

  -- The text before the numbers of the caller's agent. No agent id contains `,` or `=`.
  local function agent_mark()
    return ',' .. (request.agent_id ~= '' and request.agent_id or '=') .. ' '
  end

  local function read_arrivals()
    arrivals =
      { requests = 0, renewals = 0, source_requests = 0, branches = 0, agent_requests = 0, agent_renewals = 0, other_agents = '' }
    local requests, renewals, source_requests, branches, agents = string.match(stored_limits.person or '', '^(%d+) (%d+) (%d+) (%d+)(.*)$')
    if not requests then
      return
    end
    arrivals.requests, arrivals.renewals = tonumber(requests), tonumber(renewals)
    arrivals.source_requests, arrivals.branches = tonumber(source_requests), tonumber(branches)
    local first, last = string.find(agents, agent_mark(), 1, true)
    if first then
      local agent_requests, agent_renewals, rest = string.match(agents, '^(%d+) (%d+)()', last + 1)
      arrivals.agent_requests, arrivals.agent_renewals = tonumber(agent_requests), tonumber(agent_renewals)
      arrivals.other_agents = string.sub(agents, 1, first - 1) .. string.sub(agents, rest)
      return
    end
    -- For a new agent, the one that was silent for the longest time is dropped.
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
    -- The key outlives the latest of these, because the time of another agent may be later. Milliseconds.
    local LEAST_KEPT, MOST_KEPT = 60000, 3600000
    local latest = math.max(arrivals.requests, arrivals.renewals, arrivals.source_requests, arrivals.branches, arrivals.agent_requests,
      arrivals.agent_renewals)
    if latest > now_ms then
      local text = string.format('%.0f %.0f %.0f %.0f%s%.0f %.0f', arrivals.requests, arrivals.renewals, arrivals.source_requests,
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
      stored_limits.repository = text
    end
  end

  local function count_source_request(kind, rate, whose)
    if rate == '' then
      return nil
    end
    local wait = one_more(arrivals[kind], (amount or 1) + (spared or 0), rate)
    if wait > 0 then
      return { 'LIMITED', now, wait, whose }
    end
    local _, arrival = one_more(arrivals[kind], amount or 1, rate)
    arrivals[kind] = arrival
    write_arrivals()
  end

  local function count_request()
    local kind = request.kind == 'MARKED' and 'CLAIM' or request.kind
    local requests, renewals = string.match(stored_limits.repository or '', '^(%d+) (%d+)$')
    requests, renewals = tonumber(requests or 0), tonumber(renewals or 0)
    -- The wait and the limit behind it: the longest of agent, person and repository.
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
      -- Even that check counts.
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
    return count_source_request('source_requests', request.commit_rate, 'SOURCE')
  elseif what == 'BRANCH' then
    return count_source_request('branches', request.branch_rate, 'NEW')
  elseif what == 'WORK' then
    -- Not beyond what one_more() takes for an arrival time of this clock.
    local function charged(arrival, rate)
      local interval, burst = string.match(rate, '^(%d+) (%d+)$')
      local most = interval and now_ms + interval * burst * CLAIMS_BURST
      return interval and math.min(math.max(arrival, now_ms) + interval * amount, most) or arrival
    end
    local requests, renewals = string.match(stored_limits.repository or '', '^(%d+) (%d+)$')
    arrivals.agent_requests = charged(arrivals.agent_requests, request.agent_rate)
    arrivals.requests = charged(arrivals.requests, request.person_rate)
    write_arrivals()
    write_repository_arrivals(charged(tonumber(requests or 0), request.repository_rate), tonumber(renewals or 0))
    return nil
  end
  return count_request()
end
