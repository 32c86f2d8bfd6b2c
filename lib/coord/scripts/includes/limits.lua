-- Rate limits, by the generic cell rate algorithm (GCRA): a theoretical arrival time (milliseconds) for each, at which all that
-- was let in has been worked off at the sustained rate. Needs: now_ms, user_id, agent_id.
-- Under the person's key: those of the person's requests, renewals and releases, questions to the source, and new branches;
-- then, after a comma each, the latest agents, with their names and those of their requests, and their renewals and releases. Under the
-- repository's: of all requests, and all renewals and releases.
local MOST_AGENTS = 16
-- Claims may come where reads may not any more: their burst is longer by half.
local CLAIMS_BURST = 1.5
-- A person's key outlives its latest arrival time, because that of another agent may be later. Milliseconds.
local LEAST_KEPT, MOST_KEPT = 60000, 3600000

-- Where the store cannot be written, nothing is counted, and nobody is kept from reading by that: hence pcall.
local person_key, person_read
local by_person, by_renewals, by_questions, by_branches = 0, 0, 0, 0
local by_agent, by_agents_renewals, other_agents = 0, 0, ''

-- In how many seconds something of this `cost` may come (0: now), and the arrival time after it. `rate` is the milliseconds
-- between two at the sustained rate and how many may come at once, or '' for no limit.
local function one_more(arrival, cost, rate, longer)
  local interval, burst = string.match(rate, '^(%d+) (%d+)$')
  if not interval then
    return 0, arrival
  end
  interval, burst = tonumber(interval), tonumber(burst)
  local full = interval * burst
  -- Further ahead than any request can have moved it: the clock was set back, or the limit changed.
  if arrival > now_ms + full * CLAIMS_BURST then
    arrival = 0
  end
  arrival = math.max(arrival, now_ms) + interval * math.min(cost, burst)
  return math.max(0, math.ceil((arrival - now_ms - full * (longer or 1)) / 1000)), arrival
end

-- What stands before an agent's numbers. Neither `,` nor `=` is in a name.
local function agent_mark()
  return ',' .. (agent_id ~= '' and agent_id or '=') .. ' '
end

local function read_person(key, text)
  person_key, person_read = key, true
  local a, b, c, d, agents = string.match(text or '', '^(%d+) (%d+) (%d+) (%d+)(.*)$')
  if not a then
    return
  end
  by_person, by_renewals, by_questions, by_branches = tonumber(a), tonumber(b), tonumber(c), tonumber(d)
  local first, last = string.find(agents, agent_mark(), 1, true)
  if first then
    local requests, renewals, rest = string.match(agents, '^(%d+) (%d+)()', last + 1)
    by_agent, by_agents_renewals = tonumber(requests), tonumber(renewals)
    other_agents = string.sub(agents, 1, first - 1) .. string.sub(agents, rest)
    return
  end
  -- One more agent: the one that was silent for longest is forgotten.
  local cut = 0
  for _ = 1, MOST_AGENTS do
    cut = string.find(agents, ',', cut + 1, true)
    if not cut then
      break
    end
  end
  other_agents = cut and string.sub(agents, 1, cut - 1) or agents
end

local function write_person()
  local latest = math.max(by_person, by_renewals, by_questions, by_branches, by_agent, by_agents_renewals)
  if latest > now_ms then
    local text = string.format('%.0f %.0f %.0f %.0f%s%.0f %.0f', by_person, by_renewals, by_questions, by_branches,
      agent_mark(), by_agent, by_agents_renewals)
    local kept = math.min(math.max(latest - now_ms, LEAST_KEPT), MOST_KEPT)
    redis.pcall('SET', person_key, text .. other_agents, 'PX', string.format('%.0f', kept))
  end
end

local function write_repository(key, requests, renewals)
  local latest = math.max(requests, renewals)
  if latest > now_ms then
    local kept = math.min(latest - now_ms, MOST_KEPT)
    redis.pcall('SET', key, string.format('%.0f %.0f', requests, renewals), 'PX', string.format('%.0f', kept))
  end
end
