-- force_shutdown: ends a shutdown that was not answered in time, for all that have not approved.
-- KEYS: those of admission, then those of teams/team
-- ARGV: those of admission/request and teams/team, then 19 id of the shutdown
-- Returns { state, now, id of the shutdown, tasks that were given back, the members that were passed over }, where state is STOPPED
--           or CLOSED
--      or { REFUSED, now, code, words } or one of the denials of admit()
local id = ARGV[19]
-- @include admission/admission
-- @include teams/team
-- @include departures/shutdown

local denial = admit() or enter(true)
if denial then
  return denial
end
if not shutdown or shutdown.id ~= id then
  return refuse('NO_SHUTDOWN', id, team.name)
end
if not is_leader() then
  return refuse('NOT_LEADER', team.leader, team.name)
end
if now_ms < shutdown.respond_by then
  return refuse('TOO_EARLY', id, shutdown.respond_by)
end
load_members()
local passed_over, stopped, saved = {}, {}, {}
for key, record in pairs(members) do
  local is_asked = shutdown.target == '*' or shutdown.target == key
  if is_asked and not record.ended and shutdown.answers[key] ~= 'approved' then
    passed_over[#passed_over + 1] = record.handle
    stopped[#stopped + 1] = key
  end
end
table.sort(passed_over)
table.sort(stopped)
for index, key in ipairs(stopped) do
  stopped[index] = members[key]
end
-- The shutdown ends here, and needs no answers of theirs.
local given_back = give_back_of(stopped, 'Given back when the shutdown was forced by ' .. member.handle .. '.')
for _, record in ipairs(stopped) do
  record.ended = now_ms
  saved[#saved + 1] = '=' .. string.lower(record.handle)
  saved[#saved + 1] = cjson.encode(record)
end
call_in_chunks('HSET', keys.team, saved)
if shutdown.target == '*' then
  close_team()
  return told({ 'CLOSED', now, id, given_back, passed_over })
end
end_shutdown('forced')
return told({ 'STOPPED', now, id, given_back, passed_over })
