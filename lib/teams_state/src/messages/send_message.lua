-- send_message: sends a message to members of the team, or to all others.
-- KEYS: those of admission/request, of a team (`team_keys.rs`)
-- The request has the fields of teams/team and teams/answers, `message_type` and `text`; and, absent for none, `summary`, `task_id`,
-- `reply_to`: the sequence that it replies to, and `to`: handles, none for a broadcast, and for 'idle', which goes to the leader.
-- Returns Team.reply(): SENT, `id`: its sequence, and `ready`: for 'idle' ids of up to 5 tasks that may be claimed, absent for none; or
-- REFUSED; or one of the denials of Admission.admit()
local Admission = require('admission/admission')
local Answer = require('answer')
local Answers = require('teams/answers')
local Deliver = require('mail/deliver')
local Entries = require('locks/entries')
local Held = require('locks/held')
local Renewals = require('tasks/renewals')
local Task = require('tasks/task')
local Team = require('teams/team')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)
  Deliver.begin(call)
  Entries.begin(call)
  Held.begin(call)

  local denial = Admission.admit(call) or Team.enter(call, true)
  if denial then
    return denial
  end
  local earlier, refusal = Answers.find_earlier(call)
  if refusal then
    return refusal
  end
  -- The head of the queue, as next_task sees it, without reserved tasks.
  local function ready_tasks()
    local MAX_NAMED, MAX_SETTLED, MAX_LOOKED_AT = 5, 512, 32
    Task.settle_lapsed(call, MAX_SETTLED)
    local ids, ready = redis.call('ZRANGE', call.keys.ready, 0, MAX_LOOKED_AT - 1), {}
    local stored = #ids > 0 and redis.call('HMGET', call.keys.tasks, unpack(ids)) or {}
    for index, id in ipairs(ids) do
      local is_free = stored[index] and not Task.is_reserved(call, cjson.decode(stored[index]), call.member)
      if is_free and #ready < MAX_NAMED then
        ready[#ready + 1] = id
      end
    end
    return ready
  end
  -- `text`: the sequence, and the ids of the tasks that were ready then, separated by blanks.
  local function answer(text)
    local sequence, ready = string.match(text, '^%d+'), {}
    for id in string.gmatch(string.sub(text, #sequence + 1), '%S+') do
      ready[#ready + 1] = id
    end
    return Team.reply(call, 'SENT', { id = tonumber(sequence), ready = Answer.some(ready) })
  end
  if earlier then
    return answer(earlier)
  end
  local kind, handles = call.request.message_type, call.request.to or {}
  local is_broadcast = #handles == 0 and kind ~= 'idle'
  if kind == 'idle' then
    handles = { call.team.leader }
  end
  local recipients, is_named = {}, {}
  for _, handle in ipairs(handles) do
    local key = string.lower(handle)
    local recipient = not is_named[key] and Team.load_member(call, handle)
    if recipient then
      recipients[#recipients + 1] = recipient.handle
    elseif not is_named[key] then
      return Team.refuse(call, 'NO_RECIPIENT', { handle = handle, team = call.team.name })
    end
    is_named[key] = true
  end
  local message = {
    from = call.member.handle,
    login = call.member.login,
    kind = kind,
    message = call.request.text,
    to = is_broadcast and 'broadcast' or recipients[1],
    recipients = #recipients > 1 and recipients or nil,
    summary = call.request.summary,
    task_id = call.request.task_id,
    reply_to = call.request.reply_to,
  }
  local sequence, full_inbox, limit, most
  if is_broadcast then
    sequence, full_inbox, limit, most = Deliver.broadcast(call, message)
  else
    sequence, full_inbox, limit, most = Deliver.deliver(call, recipients, message, Deliver.MAX_UNREAD)
  end
  if not sequence then
    return Deliver.refuse_message(call, full_inbox, limit, most)
  end
  Renewals.renew(call)
  local words = { string.format('%.0f', call.sequence) }
  for _, id in ipairs(kind == 'idle' and ready_tasks() or {}) do
    words[#words + 1] = id
  end
  local text = table.concat(words, ' ')
  Answers.remember_answer(call, text)
  return answer(text)
end
