-- force_shutdown: ends a shutdown that was not answered in time, for all that have not approved. Where these have many tasks, a run ends
-- some memberships, and the next one goes on.
-- KEYS: those of admission/request, of a team (`team_keys.rs`)
-- The request has the fields of teams/team, and `shutdown`: its id.
-- Returns Team.reply(): STOPPED, CLOSED, or OPEN: the same has to be asked again, `id` of the shutdown, `given_back`: tasks, and
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
  local passed_over, stopped, saved = {}, {}, {}
  for key, record in pairs(call.members) do
    local is_asked = call.shutdown.target == '*' or call.shutdown.target == key
    if is_asked and not record.ended and call.shutdown.answers[key] ~= 'approved' then
      stopped[#stopped + 1] = key
    end
  end
  table.sort(stopped)
  -- The most claims, and tasks that are kept for a member, that one run looks at; of one member at least.
  local MOST_TASKS, count, is_over = 1000, 0, true
  for index, key in ipairs(stopped) do
    local record = call.members[key]
    count = count + Task.count_words(record.claims) + Task.count_words(record.assigned)
    if count > MOST_TASKS and index > 1 then
      stopped, is_over = Chunks.part_of(stopped, 1, index - 1), false
      break
    end
  end
  for index, key in ipairs(stopped) do
    stopped[index], passed_over[index] = call.members[key], call.members[key].handle
  end
  -- The shutdown ends without their answers.
  local given_back = TaskRelease.release_all(call, stopped, 'Released when the shutdown was forced by ' .. call.member.handle .. '.')
  for _, record in ipairs(stopped) do
    record.ended = call.now_ms
    saved[#saved + 1] = '=' .. string.lower(record.handle)
    saved[#saved + 1] = cjson.encode(record)
  end
  Chunks.call_in_chunks('HSET', call.keys.team, saved)
  local answer = { id = id, given_back = Answer.some(given_back), passed_over = Answer.some(passed_over) }
  if not is_over then
    return Team.reply(call, 'OPEN', answer)
  end
  if call.shutdown.target == '*' then
    Shutdown.close_team(call)
    return Team.reply(call, 'CLOSED', answer)
  end
  Shutdown.end_shutdown(call, 'forced')
  return Team.reply(call, 'STOPPED', answer)
end
