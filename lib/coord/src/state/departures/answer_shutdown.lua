-- answer_shutdown: approves or rejects an open shutdown for the caller.
-- KEYS: those of admission, those of departures/unpushed, then those of teams/team
-- ARGV: those of admission/request and teams/team, then 19 id of the shutdown, 20 reason of a rejection, '' to approve
-- Returns { state, now, id of the shutdown, tasks that the caller gave back, what unpushed_locks() gives of a caller that stops,
--           members that were not told because there is no room for it }, where state is OPEN, STOPPED (the member has stopped),
--           CLOSED (the team is closed) or REJECTED
--      or { REFUSED, now, code, words } or one of the denials of admit()
local id, reason = ARGV[19], ARGV[20]
-- @include admission/admission
-- @include teams/team
-- @include departures/approve

local denial = admit() or enter(true)
if denial then
  return denial
end
local me = string.lower(member.handle)
if not shutdown or shutdown.id ~= id then
  return refuse('NO_SHUTDOWN', id, team.name)
end
if shutdown.target ~= '*' and shutdown.target ~= me then
  return refuse('NOT_ASKED', id, member.handle)
end
if shutdown.answers[me] == 'approved' then
  return refuse('ANSWERED', id, member.handle)
end
load_members()
local given_back, unpushed, unpushed_count, not_told = {}, {}, 0, nil
if reason == '' then
  given_back, unpushed, unpushed_count, not_told = approve(false)
else
  note_answer(me, 'rejected')
  note_rejection()
  not_told = tell(shutdown.by, 'shutdown_rejected', reason)
  emit_shutdown('rejected_by', member.handle)
end
return told({ settle_shutdown(), now, id, given_back, unpushed, unpushed_count, not_told })
