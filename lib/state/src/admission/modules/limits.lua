-- Rate limits, by the generic cell rate algorithm (GCRA). Each has a theoretical arrival time in milliseconds, at which all
-- admitted requests are worked off at the sustained rate.
-- The person's key has the arrival times of the person's requests, renewals and releases, lookups at the source, and new
-- branches; then, each after a comma, the latest agents, with the times of their requests, and of their renewals and
-- releases. The repository's key has the times of all requests, and of all renewals and releases.
-- If the store cannot be written, nothing is counted, and reads still pass.
local Answer = require('answer')
local Memo = require('memo')

local Limits = {}

-- The rates of a request, parsed from their text: the milliseconds between two requests and the burst, 0 for no limit. They are for one
-- agent, one person, the repository, and one person's lookups at the source of unknown commits and of unknown branches.
local RATES = { 'agent', 'person', 'repository', 'commits', 'branches' }
local rates_of = Memo.of(function(text)
  local rates, numbers = {}, string.gmatch(text, '%d+')
  for _, name in ipairs(RATES) do
    local interval, burst = tonumber(numbers()), tonumber(numbers())
    rates[name] = interval > 0 and { interval, burst } or nil
  end
  return rates
end)
local NO_RATES = {}

function Limits.begin(call)
  call.rates = call.request.rates and rates_of(call.request.rates) or NO_RATES
  -- The stored texts of the person and of the repository; and the person's arrival times with everything counted since.
  call.stored_limits, call.arrivals = {}, nil
end

-- Whether requests are counted at all.
function Limits.is_limited(call)
  return call.rates.agent or call.rates.person or call.rates.repository
end

-- The burst of claims is longer by half, so that claims still pass when reads do not.
local CLAIMS_BURST = 1.5

-- Milliseconds, as text, for which the keys stay after the last request: an hour. By default no limit lasts as long.
local KEPT_MS = '3600000'

-- Seconds until a request of this `cost` is allowed (0: now), and the arrival time after it. `rate`: the milliseconds
-- between two requests at the sustained rate, and the burst; nil for no limit.
local function wait_and_arrival(call, arrival, cost, rate, burst_factor)
  if not rate then
    return 0, arrival
  end
  local interval, burst, now_ms = rate[1], rate[2], call.now_ms
  local full = interval * burst
  arrival = tonumber(arrival)
  -- Further ahead than any request can move it: the clock was set back, or the limit has changed.
  if arrival < now_ms or arrival > now_ms + full * CLAIMS_BURST then
    arrival = now_ms
  end
  arrival = arrival + interval * (cost < burst and cost or burst)
  local excess = arrival - now_ms - full * (burst_factor or 1)
  return excess > 0 and math.ceil(excess / 1000) or 0, arrival
end

-- The text before the numbers of the caller's agent. No agent id contains `,` or `=`.
local function agent_mark(call)
  return ',' .. (call.request.agent_id ~= '' and call.request.agent_id or '=') .. ' '
end

-- Reads the arrival times of the person and of the caller's agent. Values that the request does not change stay text: parsing and
-- formatting numbers is most of the cost of a count.
local function read_arrivals(call)
  local arrivals = {
    mark = agent_mark(call),
    requests = 0,
    renewals = 0,
    source_requests = 0,
    branches = 0,
    agent_requests = 0,
    agent_renewals = 0,
    other_agents = '',
  }
  call.arrivals = arrivals
  local requests, renewals, source_requests, branches, agents =
    string.match(call.stored_limits.person or '', '^(%d+) (%d+) (%d+) (%d+)(.*)$')
  if not requests then
    return
  end
  arrivals.requests, arrivals.renewals, arrivals.source_requests, arrivals.branches = requests, renewals, source_requests, branches
  local first, last = string.find(agents, arrivals.mark, 1, true)
  if first then
    local agent_requests, agent_renewals, rest = string.match(agents, '^(%d+) (%d+)()', last + 1)
    arrivals.agent_requests, arrivals.agent_renewals = agent_requests, agent_renewals
    arrivals.other_agents = string.sub(agents, 1, first - 1) .. string.sub(agents, rest)
    return
  end
  -- A new agent takes the place of the one that has been silent for the longest time.
  local MAX_AGENTS = 16
  local cut = 0
  for _ = 1, MAX_AGENTS do
    cut = string.find(agents, ',', cut + 1, true)
    if not cut then
      break
    end
  end
  arrivals.other_agents = cut and string.sub(agents, 1, cut - 1) or agents
end

-- The whole number as text; a text is returned unchanged.
local function text_of(number)
  return type(number) == 'string' and number or string.format('%d', number)
end

-- If the store cannot be written, nothing is counted.
local function write_limits(key, text)
  redis.pcall('SET', key, text, 'PX', KEPT_MS)
end

local function write_arrivals(call)
  local arrivals, rates = call.arrivals, call.rates
  if not (rates.agent or rates.person or rates.commits or rates.branches) then
    return
  end
  write_limits(
    call.keys.person_limits,
    text_of(arrivals.requests)
      .. ' '
      .. text_of(arrivals.renewals)
      .. ' '
      .. text_of(arrivals.source_requests)
      .. ' '
      .. text_of(arrivals.branches)
      .. arrivals.mark
      .. text_of(arrivals.agent_requests)
      .. ' '
      .. text_of(arrivals.agent_renewals)
      .. arrivals.other_agents
  )
end

-- The arrival times of the repository's requests, and of its renewals and releases.
local function arrivals_of_repository(call)
  local requests, renewals = string.match(call.stored_limits.repository or '', '^(%d+) (%d+)$')
  return requests or 0, renewals or 0
end

local function write_repository_arrivals(call, requests, renewals)
  if not call.rates.repository then
    return
  end
  local text = text_of(requests) .. ' ' .. text_of(renewals)
  write_limits(call.keys.repository_limits, text)
  call.stored_limits.repository = text
end

-- The denial LIMITED: `retry_after_seconds`, until the next request is allowed, and `whose` limit was met: HOLDER, PERSON, REPOSITORY,
-- SOURCE, NEW or LEDGER.
function Limits.denial(call, seconds, whose)
  return Answer.reply(call, 'LIMITED', { retry_after_seconds = seconds, whose = whose })
end

local function count_source_request(call, kind, rate, whose, amount, spared)
  if not rate then
    return nil
  end
  local wait = wait_and_arrival(call, call.arrivals[kind], (amount or 1) + (spared or 0), rate)
  if wait > 0 then
    return Limits.denial(call, wait, whose)
  end
  local _, arrival = wait_and_arrival(call, call.arrivals[kind], amount or 1, rate)
  call.arrivals[kind] = arrival
  write_arrivals(call)
end

-- The longest wait of agent, person and repository, and whose limit it is; and their arrival times after the request.
local function longest_wait(call, agent, person, repository, burst_factor)
  local cost = call.request.cost
  local agent_wait, person_wait, repository_wait
  agent_wait, agent = wait_and_arrival(call, agent, cost, call.rates.agent, burst_factor)
  person_wait, person = wait_and_arrival(call, person, cost, call.rates.person, burst_factor)
  repository_wait, repository = wait_and_arrival(call, repository, cost, call.rates.repository, burst_factor)
  local wait, whose = agent_wait, 'HOLDER'
  if person_wait > wait then
    wait, whose = person_wait, 'PERSON'
  end
  if repository_wait > wait then
    wait, whose = repository_wait, 'REPOSITORY'
  end
  return wait, whose, agent, person, repository
end

local function count_request(call, is_renewal)
  local kind = call.request.kind == 'MARKED' and 'CLAIM' or call.request.kind
  local requests, renewals = arrivals_of_repository(call)
  local limited
  if kind ~= 'RELEASE' then
    local burst_factor = kind == 'CLAIM' and CLAIMS_BURST or 1
    local wait, whose, agent, person, repository =
      longest_wait(call, call.arrivals.agent_requests, call.arrivals.requests, requests, burst_factor)
    if wait == 0 then
      call.arrivals.agent_requests, call.arrivals.requests = agent, person
      write_arrivals(call)
      write_repository_arrivals(call, repository, renewals)
      return nil
    end
    limited = Limits.denial(call, wait, whose)
    if kind ~= 'CLAIM' then
      return limited
    end
  end
  local wait, whose, agent, person, repository = longest_wait(call, call.arrivals.agent_renewals, call.arrivals.renewals, renewals)
  if wait > 0 then
    return limited or Limits.denial(call, wait, whose)
  end
  call.arrivals.agent_renewals = agent
  if limited and not is_renewal() then
    -- The check for a renewal counts too.
    write_arrivals(call)
    return limited
  end
  call.arrivals.renewals = person
  write_arrivals(call)
  write_repository_arrivals(call, requests, repository)
end

-- The arrival time after `amount` further requests, at most the latest that wait_and_arrival() accepts.
local function arrival_after(call, arrival, rate, amount)
  if not rate then
    return arrival
  end
  local interval, burst = rate[1], rate[2]
  return math.min(math.max(arrival, call.now_ms) + interval * amount, call.now_ms + interval * burst * CLAIMS_BURST)
end

-- Counts by `kind`: the 'REQUEST'; or lookups at the source, one unless there is an `amount`, for 'COMMITS' or an unknown 'BRANCH'; they are
-- too many if fewer than `spared` lookups would remain. 'WORK' charges the caller for work that has been done: it counts as `amount`
-- further requests, which the next request waits for.
-- Returns nil, or the denial if there were too many. A claim above the limit still passes if `is_renewal()` returns true.
function Limits.count(call, kind, is_renewal, amount, spared)
  if not call.arrivals then
    read_arrivals(call)
  end
  if kind == 'COMMITS' then
    return count_source_request(call, 'source_requests', call.rates.commits, 'SOURCE', amount, spared)
  elseif kind == 'BRANCH' then
    return count_source_request(call, 'branches', call.rates.branches, 'NEW', amount, spared)
  elseif kind == 'WORK' then
    local requests, renewals = arrivals_of_repository(call)
    call.arrivals.agent_requests = arrival_after(call, call.arrivals.agent_requests, call.rates.agent, amount)
    call.arrivals.requests = arrival_after(call, call.arrivals.requests, call.rates.person, amount)
    write_arrivals(call)
    write_repository_arrivals(call, arrival_after(call, requests, call.rates.repository, amount), renewals)
    return nil
  end
  return count_request(call, is_renewal)
end

return Limits
