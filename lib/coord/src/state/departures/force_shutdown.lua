-- force_shutdown: ends a shutdown that was not answered in time, for all that have not approved. Where these have many tasks, a run ends
-- some memberships, and the next one goes on.
-- KEYS: those of admission, then those of teams/team
-- ARGV: those of admission/request and teams/team, then 19 id of the shutdown
-- Returns { state, now, id of the shutdown, tasks that were given back, the members that were passed over }, where state is STOPPED,
--           CLOSED, or OPEN: the same has to be asked again
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
    stopped[#stopped + 1] = key
  end
end
table.sort(stopped)
-- The most claims, and tasks that are kept for a member, that one run looks at; of one member at least.
local MOST_TASKS, count, is_over = 1000, 0, true
for index, key in ipairs(stopped) do
  local record = members[key]
  count = count + count_words(record.claims) + count_words(record.assigned)
  if count > MOST_TASKS and index > 1 then
    stopped, is_over = part_of(stopped, 1, index - 1), false
    break
  end
end
for index, key in ipairs(stopped) do
  stopped[index], passed_over[index] = members[key], members[key].handle
end
-- The shutdown needs no answers of theirs: it ends without them.
local given_back = give_back_of(stopped, 'Given back when the shutdown was forced by ' .. member.handle .. '.')
for _, record in ipairs(stopped) do
  record.ended = now_ms
  saved[#saved + 1] = '=' .. string.lower(record.handle)
  saved[#saved + 1] = cjson.encode(record)
end
call_in_chunks('HSET', keys.team, saved)
if not is_over then
  return told({ 'OPEN', now, id, given_back, passed_over })
end
if shutdown.target == '*' then
  close_team()
  return told({ 'CLOSED', now, id, given_back, passed_over })
end
end_shutdown('forced')
return told({ 'STOPPED', now, id, given_back, passed_over })
