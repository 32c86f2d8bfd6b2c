-- force_shutdown: ends a shutdown that was not answered in time, for all members that have not approved. If these have many tasks, one run
-- stops some of the members, and the next run continues.
-- KEYS: those of admission/request, of a team (`team_keys.rs`)
-- The request has the fields of teams/team, and `shutdown`: its id.
-- Returns Team.reply(): STOPPED, CLOSED, or OPEN: the same request must be repeated, `id` of the shutdown, `given_back`: released tasks, and
-- `passed_over`: members, absent for none; or REFUSED; or one of the denials of Admission.admit()
local Admission = require('admission/admission')
local Answer = require('answer')
local Chunks = require('chunks')
local Deliver = require('mail/deliver')
local TaskRelease = require('departures/task_release')
local Members = require('departures/members')
local Shutdown = require('departures/shutdown')
local Task = require('tasks/task')
local Team = require('teams/team')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)
  Members.begin(call)
  Deliver.begin(call)

  local denial = Admission.admit(call) or Team.enter(call, true)
  if denial then
    return denial
  end
  local id = call.request.shutdown
  if not call.shutdown or call.shutdown.id ~= id then
    return Team.refuse(call, 'NO_SHUTDOWN', { id = id, team = call.team.name })
  end
  if not Team.is_leader(call) then
    return Team.refuse(call, 'NOT_LEADER', { leader = call.team.leader, team = call.team.name })
  end
  if call.now_ms < call.shutdown.respond_by then
    return Team.refuse(call, 'TOO_EARLY', { id = id, respond_by = call.shutdown.respond_by })
  end
  Members.load(call)
  local passed_over, stopped, fields = {}, {}, {}
  for key, record in pairs(call.members) do
    local is_asked = call.shutdown.target == '*' or call.shutdown.target == key
    if is_asked and not record.ended and call.shutdown.answers[key] ~= 'approved' then
      stopped[#stopped + 1] = key
    end
  end
  table.sort(stopped)
  -- How many claimed and assigned tasks one run looks at; it stops at least one member.
  local MAX_TASKS, count, is_last_run = 1000, 0, true
  for index, key in ipairs(stopped) do
    local record = call.members[key]
    count = count + Task.count_words(record.claims) + Task.count_words(record.assigned)
    if count > MAX_TASKS and index > 1 then
      stopped, is_last_run = Chunks.slice(stopped, 1, index - 1), false
      break
    end
  end
  for index, key in ipairs(stopped) do
    stopped[index], passed_over[index] = call.members[key], call.members[key].handle
  end
  -- The shutdown ends without their answers.
  local released = TaskRelease.release_all(call, stopped, 'Released when the shutdown was forced by ' .. call.member.handle .. '.')
  for _, record in ipairs(stopped) do
    record.ended = call.now_ms
    fields[#fields + 1] = '=' .. string.lower(record.handle)
    fields[#fields + 1] = cjson.encode(record)
  end
  Chunks.call_in_chunks('HSET', call.keys.team, fields)
  local answer = { id = id, given_back = Answer.some(released), passed_over = Answer.some(passed_over) }
  if not is_last_run then
    return Team.reply(call, 'OPEN', answer)
  end
  if call.shutdown.target == '*' then
    Shutdown.close_team(call)
    return Team.reply(call, 'CLOSED', answer)
  end
  Shutdown.end_shutdown(call, 'forced')
  return Team.reply(call, 'STOPPED', answer)
end
