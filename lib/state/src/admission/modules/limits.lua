-- Rate limits, by the generic cell rate algorithm (GCRA). Each has a theoretical arrival time in milliseconds, at which all
-- admitted requests are worked off at the sustained rate.
-- The person's key has those of the person's requests, renewals and releases, lookups at the source, and new branches; then,
-- each after a comma, the latest agents, with those of their requests, and of their renewals and releases. The repository's
-- key has those of all requests, and of all renewals and releases.
-- If the store cannot be written, nothing is counted, and reads still pass.
local Answer = require('answer')
local Memo = require('memo')

local Limits = {}

-- The rates of a request, by their text: for one agent, one person, the repository, and one person's lookups at the source of unknown commits
-- and of unknown branches, the milliseconds between two requests and the burst; 0 for no limit.
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
  -- The stored texts of the person and of the repository; and the person's arrival times with all counted since.
  call.stored_limits, call.arrivals = {}, nil
end

-- Whether requests are counted at all.
function Limits.is_limited(call)
  return call.rates.agent or call.rates.person or call.rates.repository
end

-- Claims may still pass when reads may not: their burst is longer by half.
local CLAIMS_BURST = 1.5

-- The keys stay for an hour after the last request. By default no limit lasts as long. Milliseconds, as text.
local KEPT = '3600000'

-- Seconds until a request of this `cost` may come (0: now), and the arrival time after it. `rate` is the milliseconds
-- between two at the sustained rate and the burst, or nil for no limit.
local function one_more(call, arrival, cost, rate, longer)
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
  local early = arrival - now_ms - full * (longer or 1)
  return early > 0 and math.ceil(early / 1000) or 0, arrival
end

-- The text before the numbers of the caller's agent. No agent id contains `,` or `=`.
local function agent_mark(call)
  return ',' .. (call.request.agent_id ~= '' and call.request.agent_id or '=') .. ' '
end

-- The arrival times of the person's requests and the caller's agent. Values that one request does not change stay text: parsing and
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

-- The whole number as text; a text as it is.
local function text_of(number)
  return type(number) == 'string' and number or string.format('%d', number)
end

-- If the store cannot be written, nothing is counted.
local function keep(key, text)
  redis.pcall('SET', key, text, 'PX', KEPT)
end

local function write_arrivals(call)
  local of, rates = call.arrivals, call.rates
  if not (rates.agent or rates.person or rates.commits or rates.branches) then
    return
  end
  keep(
    call.keys.person_limits,
    text_of(of.requests)
      .. ' '
      .. text_of(of.renewals)
      .. ' '
      .. text_of(of.source_requests)
      .. ' '
      .. text_of(of.branches)
      .. of.mark
      .. text_of(of.agent_requests)
      .. ' '
      .. text_of(of.agent_renewals)
      .. of.other_agents
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
  keep(call.keys.repository_limits, text)
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
  local wait = one_more(call, call.arrivals[kind], (amount or 1) + (spared or 0), rate)
  if wait > 0 then
    return Limits.denial(call, wait, whose)
  end
  local _, arrival = one_more(call, call.arrivals[kind], amount or 1, rate)
  call.arrivals[kind] = arrival
  write_arrivals(call)
end

-- The wait and the limit behind it: the longest of agent, person and repository; and their arrival times after the request.
local function waits(call, agent, person, repository, longer)
  local cost = call.request.cost
  local agent_wait, person_wait, repository_wait
  agent_wait, agent = one_more(call, agent, cost, call.rates.agent, longer)
  person_wait, person = one_more(call, person, cost, call.rates.person, longer)
  repository_wait, repository = one_more(call, repository, cost, call.rates.repository, longer)
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
    local longer = kind == 'CLAIM' and CLAIMS_BURST or 1
    local wait, whose, agent, person, repository = waits(call, call.arrivals.agent_requests, call.arrivals.requests, requests, longer)
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
  local wait, whose, agent, person, repository = waits(call, call.arrivals.agent_renewals, call.arrivals.renewals, renewals)
  if wait > 0 then
    return limited or Limits.denial(call, wait, whose)
  end
  call.arrivals.agent_renewals = agent
  if limited and not is_renewal() then
    -- Even that check counts.
    write_arrivals(call)
    return limited
  end
  call.arrivals.renewals = person
  write_arrivals(call)
  write_repository_arrivals(call, requests, repository)
end

-- The arrival after `amount` further requests, not beyond what one_more() takes for an arrival time of this clock.
local function charged(call, arrival, rate, amount)
  if not rate then
    return arrival
  end
  local interval, burst = rate[1], rate[2]
  return math.min(math.max(arrival, call.now_ms) + interval * amount, call.now_ms + interval * burst * CLAIMS_BURST)
end

-- Counts the 'REQUEST', or lookups at the source, one unless there is an `amount`, for 'COMMITS' or for an unknown 'BRANCH'. Where
-- fewer than `spared` lookups would remain, there were too many. 'WORK' charges the caller for work that has been done: it counts as
-- `amount` further requests, which the next request waits for.
-- Returns nil, or the denial if there were too many. A claim above the limit passes as a renewal if `is_renewal` says that it is one.
function Limits.count(call, what, is_renewal, amount, spared)
  if not call.arrivals then
    read_arrivals(call)
  end
  if what == 'COMMITS' then
    return count_source_request(call, 'source_requests', call.rates.commits, 'SOURCE', amount, spared)
  elseif what == 'BRANCH' then
    return count_source_request(call, 'branches', call.rates.branches, 'NEW', amount, spared)
  elseif what == 'WORK' then
    local requests, renewals = arrivals_of_repository(call)
    call.arrivals.agent_requests = charged(call, call.arrivals.agent_requests, call.rates.agent, amount)
    call.arrivals.requests = charged(call, call.arrivals.requests, call.rates.person, amount)
    write_arrivals(call)
    write_repository_arrivals(call, charged(call, requests, call.rates.repository, amount), renewals)
    return nil
  end
  return count_request(call, is_renewal)
end

return Limits
