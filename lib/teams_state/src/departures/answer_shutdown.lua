-- answer_shutdown: approves or rejects an open shutdown for the caller.
-- KEYS: those of admission/request, of a team (`team_keys.rs`)
-- The request has the fields of teams/team, `shutdown`: its id, and `rejection`: the reason of one, absent to approve.
-- Returns Team.reply(): OPEN, STOPPED (the member has stopped), CLOSED (the team is closed) or REJECTED, `id` of the shutdown, and what
-- Approve.approve() returns; or REFUSED; or one of the denials of Admission.admit()
local Admission = require('admission/admission')
local Approve = require('departures/approve')
local Deliver = require('mail/deliver')
local Entries = require('locks/entries')
local Members = require('departures/members')
local Shutdown = require('departures/shutdown')
local Team = require('teams/team')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  Team.begin(call)
  Members.begin(call)
  Deliver.begin(call)
  Entries.begin(call)

  local denial = Admission.admit(call) or Team.enter(call, true)
  if denial then
    return denial
  end
  local id, rejection = call.request.shutdown, call.request.rejection
  local me = string.lower(call.member.handle)
  if not call.shutdown or call.shutdown.id ~= id then
    return Team.refuse(call, 'NO_SHUTDOWN', { id = id, team = call.team.name })
  end
  if call.shutdown.target ~= '*' and call.shutdown.target ~= me then
    return Team.refuse(call, 'NOT_ASKED', { id = id, handle = call.member.handle })
  end
  if call.shutdown.answers[me] == 'approved' then
    return Team.refuse(call, 'ANSWERED', { id = id, handle = call.member.handle })
  end
  Members.load(call)
  local answer
  if not rejection then
    answer = Approve.approve(call, false)
  else
    Shutdown.note_answer(call, me, 'rejected')
    Shutdown.note_rejection(call)
    answer = { not_told = Shutdown.notify(call, call.shutdown.by, 'shutdown_rejected', rejection) }
    Shutdown.emit_shutdown(call, 'rejected_by', call.member.handle)
  end
  answer.id = id
  return Team.reply(call, Shutdown.settle_shutdown(call), answer)
end
