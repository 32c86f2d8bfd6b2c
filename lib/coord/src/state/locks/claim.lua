-- claim: claims all of some files for reading or writing, or none of them; a repeated claim renews.
-- KEYS: those of admission/request
-- ARGV: those of admission/request, then 17 to 27 of locks/gate_request, 28 READING or WRITING, 29 neighbor policy, 30 digest and 31
--       letters of locks/policy, 32 the text of read_interface(), 33 the caller's head, 34 message,
--       35 seconds to hold, 36 repository, 37 lookups of builds/spelling, 38 another agent of the person, whose locks on
--       the files are taken over, or '', 39 seconds for which the server holds the claim, 40 seconds of patience: both of
--       locks/queue, 41... file paths
-- Returns what claimed() of locks/claim_files gives, what waiting() tells, and, of a CONFLICT, what suggested() gives and, if that is nothing, free_files(), where outcome is CLAIMED, REFUSED (by intents; nothing
--           claimed), CONFLICT (nothing claimed) or STALE (new files to write, behind the branch; nothing claimed)
--      or { FULL, now, the part without room for more locks: FILE, PERSON or REPOSITORY, or for more owners: OWNERS, that
--           file or '' }; nothing claimed
--      or { ASK_SCOPE, now, intent, digest of its scope, its text, or '' if that digest was sent, digest of .intentignore, its
--           text, or '' if that digest was sent, no files }: the intent has yet to be judged; nothing claimed
--      or { ASK_POLICY, now, digest of the policy of the branch or '', its text or '', the files }: they have yet to be judged by it;
--           nothing claimed
--      or { TOO_MUCH, now, LOCKS or NEIGHBORS }: there are too many of these; nothing claimed
--      or { ASK_SOURCE, now, head, its age, etag or '' }: only the source can tell whether the caller is behind; nothing
--           claimed
--      or { MARK_FIRST, now }: it would be granted after mark_due; nothing claimed
--      or the denial of locks/taken; nothing claimed
--      or one of the denials of admit(); nothing claimed
local wanted, neighbor_policy = ARGV[28], ARGV[29]
local agent_head, message, ttl, repository, lookups, takes_over = unpack(ARGV, 33, 38)
local paths, gate_at = { unpack(ARGV, 41) }, 17
local policy = { digest = ARGV[30], letters = ARGV[31], judged = paths, wait = ARGV[39], patience = ARGV[40] }
-- @include admission/admission
-- @include locks/claiming
-- @include teams/waiting
-- @include locks/holds_all

local interface_of = read_interface(ARGV[32])
request.takes_over = takes_over ~= '' and takes_over or nil
local denial = admit(function()
  return holds_all(paths)
end)
if not denial and request.taken then
  -- @include locks/taken
  denial = taken_away(paths)
end
if denial then
  return denial
end
-- The outcome, with what waits for the caller behind it, and what it could do instead.
local function ended(answer)
  -- @include locks/charge
  local teams = waiting()
  answer[#answer + 1] = teams
  local is_blocked, tasks, free = answer[1] == 'CONFLICT', {}, {}
  if is_blocked then
    -- @include teams/suggested
    tasks = suggested(teams)
  end
  if is_blocked and #tasks == 0 then
    -- @include locks/free
    free = free_files(paths)
  end
  answer[#answer + 1] = tasks
  answer[#answer + 1] = free
  return answer
end
if not policy.has_judged(paths) then
  return policy.question(paths)
end
paths, gate.judgement, lookups = policy.kept(paths, gate.judgement, lookups)
local surveyed = { survey(paths, wanted, neighbor_policy, interface_of) }
if not surveyed[1] then
  local too_much = surveyed[2]
  return { 'TOO_MUCH', now, too_much }
end
-- @include locks/claim_files
return ended(claimed('CLAIMED'))
