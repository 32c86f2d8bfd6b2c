-- leave_team: ends the caller's membership, releases its tasks, and deletes its inbox. Unread messages stay in the history.
-- KEYS: those of admission/request, of a team (`team_keys.rs`)
-- The request has the fields of teams/team.
-- Returns Team.reply(): LEFT, `given_back`: tasks that the caller released, absent for none, or REFUSED; or one of the denials of
-- Admission.admit()
local Admission = require('admission/admission')
local Answer = require('answer')
local Deliver = require('mail/deliver')
local TaskRelease = require('departures/task_release')
local Inbox = require('mail/inbox')
local InboxCounts = require('teams/inbox_counts')
local MemberFields = require('teams/member_fields')
local Members = require('departures/members')
local Shutdown = require('departures/shutdown')
local Team = require('teams/team')
local TeamChanges = require('teams/changes')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)
  Members.begin(call)
  Deliver.begin(call)

  -- Keeps messages that the caller has not read, and adds it to the recipients that left.
  local function keep_unread(sequences)
    local fields, recipients_left, kept_before = {}, {}, {}
    for index, sequence in ipairs(sequences) do
      fields[index] = sequence .. ' left'
      if redis.call('ZADD', call.keys.mail, 0, Deliver.LEFT .. ' ' .. Inbox.padded(tonumber(sequence)) .. ' 1') == 0 then
        -- It was kept for a member that left before.
        kept_before[#kept_before + 1] = sequence
      end
    end
    for index, stored in ipairs(#fields > 0 and redis.call('HMGET', call.keys.bodies, unpack(fields)) or {}) do
      recipients_left[#recipients_left + 1] = fields[index]
      recipients_left[#recipients_left + 1] = (stored and stored .. ',' or '') .. '"' .. call.member.handle .. '"'
    end
    if #recipients_left > 0 then
      redis.call('HSET', call.keys.bodies, unpack(recipients_left))
    end
    Deliver.drop_bodies(call, kept_before)
  end

  local denial = Admission.admit(call) or Team.enter(call, false)
  if denial then
    return denial
  end
  if Team.is_leader(call) then
    return Team.refuse(call, 'LEADER_STAYS', { team = call.team.name })
  end
  Members.load(call)
  -- Of the messages that members had not read when they left, the newest 1,000 stay, in an inbox without an owner.
  local me, AT_ONCE, MAX_LEFT = string.lower(call.member.handle), 200, 1000
  local released = TaskRelease.release(call, call.member, call.member.handle .. ' left the team.')
  local marks = InboxCounts.marks_of(redis.call('HGET', call.keys.members, call.team_key .. '/' .. me))
  local entries
  repeat
    entries = Inbox.entries_after(call, '=' .. me, 0, AT_ONCE)
    local unread, read = {}, {}
    for index, entry in ipairs(entries) do
      local sequence = tonumber(string.match(entry, '^%d+'))
      local list = sequence > (marks.read or 0) and unread or read
      list[#list + 1] = string.format('%.0f', sequence)
      entries[index] = '=' .. me .. ' ' .. entry
    end
    keep_unread(unread)
    Deliver.drop_bodies(call, read)
    if #entries > 0 then
      redis.call('ZREM', call.keys.mail, unpack(entries))
    end
  until #entries < AT_ONCE
  for _ = MAX_LEFT + 1, redis.call('ZLEXCOUNT', call.keys.mail, '[' .. Deliver.LEFT .. ' ', '(' .. Deliver.LEFT .. '!') do
    Deliver.drop_oldest(call, Deliver.LEFT, 1)
  end
  Deliver.count_mail(call)
  for _, agent in ipairs(call.member.before or {}) do
    redis.call('HDEL', call.keys.team, MemberFields.agent_field(call.member.login, agent))
  end
  redis.call('HDEL', call.keys.team, '=' .. me, MemberFields.agent_field(call.member.login, call.member.agent))
  redis.call('HDEL', call.keys.members, call.team_key .. '/' .. me, call.team_key .. '/!' .. me)
  redis.call('HDEL', call.keys.seen, me)
  TeamChanges.bind(call, call.member.login, call.member.agent, nil)
  call.members[me] = nil
  TeamChanges.save_team(call, tonumber(redis.call('HGET', call.keys.team, 'members')) - 1)
  TeamChanges.emit_team(call, 'left', call.member.handle)
  if call.shutdown and not call.team.closed then
    -- A later member with this handle answers for itself.
    call.shutdown.answers[me] = nil
    Shutdown.settle_shutdown(call)
  end
  return Team.reply(call, 'LEFT', { given_back = Answer.some(released) })
end
