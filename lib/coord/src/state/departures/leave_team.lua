-- leave_team: ends the caller's membership; its tasks are given back, and its inbox goes. What it has not read stays in the history.
-- KEYS: those of admission, then those of teams/team
-- ARGV: those of admission/request and teams/team
-- Returns { LEFT, now, tasks that the caller gave back } or { REFUSED, now, code, words } or one of the denials of admit()
-- @include admission/admission
-- @include teams/team
-- @include departures/shutdown

-- Keeps messages that the caller has not read, and notes that it has not.
local function keep_unread(sequences)
  local fields, noted_left, more = {}, {}, {}
  for index, sequence in ipairs(sequences) do
    fields[index] = sequence .. ' left'
    if redis.call('ZADD', keys.mail, 0, LEFT .. ' ' .. padded(tonumber(sequence)) .. ' 1') == 0 then
      -- Another one that left keeps it.
      more[#more + 1] = sequence
    end
  end
  for index, before in ipairs(#fields > 0 and redis.call('HMGET', keys.bodies, unpack(fields)) or {}) do
    noted_left[#noted_left + 1] = fields[index]
    noted_left[#noted_left + 1] = (before and before .. ',' or '') .. '"' .. member.handle .. '"'
  end
  if #noted_left > 0 then
    redis.call('HSET', keys.bodies, unpack(noted_left))
  end
  drop_bodies(more)
end

local denial = admit() or enter(false)
if denial then
  return denial
end
if is_leader() then
  return refuse('LEADER_STAYS', team.name)
end
load_members()
-- Of what members that left have not read the newest 1,000 stay, in an inbox that nobody has.
local me, AT_ONCE, MOST_LEFT = string.lower(member.handle), 200, 1000
local given_back = give_back(member, member.handle .. ' left the team.')
local marks = marks_of(redis.call('HGET', keys.members, team_key .. '/' .. me))
local entries
repeat
  entries = entries_after('=' .. me, 0, AT_ONCE)
  local unread, read = {}, {}
  for index, entry in ipairs(entries) do
    local of = tonumber(string.match(entry, '^%d+'))
    local list = of > (marks.read or 0) and unread or read
    list[#list + 1] = string.format('%.0f', of)
    entries[index] = '=' .. me .. ' ' .. entry
  end
  keep_unread(unread)
  drop_bodies(read)
  if #entries > 0 then
    redis.call('ZREM', keys.mail, unpack(entries))
  end
until #entries < AT_ONCE
for _ = MOST_LEFT + 1, redis.call('ZLEXCOUNT', keys.mail, '[' .. LEFT .. ' ', '(' .. LEFT .. '!') do
  drop_oldest(LEFT, 1)
end
count_mail()
for _, agent in ipairs(member.before or {}) do
  redis.call('HDEL', keys.team, agent_field(member.login, agent))
end
redis.call('HDEL', keys.team, '=' .. me, agent_field(member.login, member.agent))
redis.call('HDEL', keys.members, team_key .. '/' .. me, team_key .. '/!' .. me)
redis.call('HDEL', keys.seen, me)
bind(member.login, member.agent, nil)
members[me] = nil
save_team(tonumber(redis.call('HGET', keys.team, 'members')) - 1)
emit_team('left', member.handle)
if shutdown and not team.closed then
  -- Who joins under this handle later answers for itself.
  shutdown.answers[me] = nil
  settle_shutdown()
end
return told({ 'LEFT', now, given_back })
