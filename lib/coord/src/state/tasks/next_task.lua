-- next_task: claims the first task that is ready: one that is assigned to the caller, else by priority and age.
-- KEYS: those of admission, then those of teams/team
-- ARGV: those of admission/request and teams/team, then 19 key of the request or '', 20 its digest, 21 seconds
-- Returns { CLAIMED, now, the task as whole_view() has it, passed over: list of { id, reason, handle, until (Unix milliseconds) } }
--      or { NOTHING, now, number of open tasks, of claimed ones, the next claims to lapse: list of { id, owner, when }, passed over }
--      or { REFUSED, now, code, words } or one of the denials of admit()
local request_key, digest, seconds = ARGV[19], ARGV[20], tonumber(ARGV[21])
-- @include admission/admission
-- @include teams/team
-- @include teams/answers
-- @include tasks/hold
-- @include tasks/view

local denial = admit() or enter(true)
if denial then
  return denial
end
local earlier, misused = answered_before(request_key, digest)
if misused then
  return misused
elseif earlier then
  local id, token = string.match(earlier, '^(%S+) (%d+)$')
  local task = load_task(id)
  if task and is_owned_by(task, member) and string.format('%.0f', task.token) == token then
    return { 'CLAIMED', now, whole_view(id, task), {} }
  end
  return refuse('CLAIM_LOST', id, task and task.owner or '', task and task.status or '')
end
local refusal = may_claim()
if refusal then
  return refusal
end
-- Claims that have lapsed since the last call; the most that are settled at once bound the run.
local MOST_SETTLED, MOST_LOOKED_AT, MOST_NAMED = 512, 32, 5
settle_lapsed(MOST_SETTLED)

local passed = {}
local function first_of(ids)
  if #ids == 0 then
    return nil
  end
  local stored = redis.call('HMGET', keys.tasks, unpack(ids))
  for index, id in ipairs(ids) do
    local task = stored[index] and cjson.decode(stored[index])
    if task and is_reserved(task) then
      passed[#passed + 1] = { id, 'RESERVED', task.assignee, string.format('%.0f', task.reserved) }
    elseif task then
      return id, task
    end
  end
end

-- Of those that are assigned to the caller, the ready ones, in the order of the queue.
local function assigned_ids()
  local found = {}
  for id in string.gmatch(member.assigned, '%S+') do
    local score = redis.call('ZSCORE', keys.ready, id)
    local task = score and load_task(id)
    if task and task.assignee and string.lower(task.assignee) == string.lower(member.handle) then
      found[#found + 1] = { id = id, score = tonumber(score) }
    end
  end
  table.sort(found, function(one, other)
    return one.score < other.score
  end)
  for index, place in ipairs(found) do
    found[index] = place.id
  end
  return found
end

local id, task = first_of(assigned_ids())
if not id then
  id, task = first_of(redis.call('ZRANGE', keys.ready, 0, MOST_LOOKED_AT - 1))
end
renew_claims()
if id then
  hold(id, task, seconds)
  remember_answer(request_key, digest, id .. ' ' .. string.format('%.0f', task.token))
  return { 'CLAIMED', now, whole_view(id, task), passed }
end
local lapsing = {}
local leases = redis.call('ZRANGE', keys.leases, 0, MOST_NAMED - 1)
for _, claimed in ipairs(leases) do
  local held = load_task(claimed)
  lapsing[#lapsing + 1] = { claimed, held.owner, string.format('%.0f', held.expires) }
end
return {
  'NOTHING', now, tonumber(redis.call('HGET', keys.teams, team_key .. '/open')), redis.call('ZCARD', keys.leases), lapsing, passed,
}
