-- release: releases all that the caller holds of some files, or nothing; with `abandon`, whatever is left of it.
-- KEYS: those of admission/request
-- ARGV: those of admission/request, then 17 the caller's new head or '', 18 the head of its working copy, 19 '1' to abandon
--       the work without a push, 20 message, 21 maximum importers to return, 22 maximum bytes of them, 23 name of the
--       request, the same if it is repeated, 24 '1' if a source can be asked about the work, 25 number of file paths, 0 for
--       all that the caller holds, 26... the file paths, then, if the source was asked, its answer for each: '' or the claim
--       head, a space and a verdict
-- Verdicts: PUSHED, WAITING (the work branch has it; then a space and the file's blob, '' where it is gone), UNCHANGED, or why not: SAME (the new head is the claim head), ELSEWHERE (it is not on the branch),
--       BEFORE (it was there before the claim), EARLIER (it does not come after the claim), AHEAD (the working copy has commits that are not on the branch), CLAIMS (the files were claimed at too
--       many heads), UNKNOWN
-- Returns { RELEASED, now, head or '', its age in seconds or '', '1' if it is unconfirmed, graph version, released paths,
--           paths that were not held, others' entries on those as JSON, files that import released ones, number of these,
--           '1' if there are more beyond the count, released paths with the same content as at the claim, { path, seconds }
--           of earlier releases, entries as JSON of others that write files whose work the caller abandons, digest of the policy of
--           the branch or '', { path, head at the claim } of written files whose interface was to be kept, { path, what is to be
--           told } as locks/notices has it, paths of changes that are pending now, and of those for which there is no room,
--           { path, head at the claim } of written files whose push the store alone has proved }
--      or { NOT_PUSHED, now, head, its age, '1' if unconfirmed, list of { path, why not } }: files were written, but the
--           branch does not have the work; nothing released
--      or { NO_NEW_HEAD, now, head, age, unconfirmed, written paths }: the caller sent no new head; nothing released
--      or { LOST, now, head, age, unconfirmed, others' entries as JSON }: another holder writes a file; nothing released
--      or { TOO_MUCH, now, LOCKS }: there are too many on these files; nothing released
--      or { ASK_WORK, now, head, age, unconfirmed, etag or '', list of { path, claim head } }: only the source can tell
--           whether the branch has the work; nothing released
--      or the denial of locks/taken; nothing released
--      or one of the denials of admit(); nothing released
-- RELEASED, NOT_PUSHED and LOST end with what waiting() tells.
local Adjacency = require('builds/adjacency')
local Admission = require('admission/admission')
local Clock = require('clock')
local Entries = require('locks/entries')
local Held = require('locks/held')
local Limits = require('admission/limits')
local ReleaseFiles = require('locks/release_files')
local Releases = require('locks/releases')
local Request = require('admission/request')
local Taken = require('locks/taken')
local Waiting = require('teams/waiting')

return function(KEYS, ARGV)
  local call = {}
  local new_head, agent_head, is_abandoned, message = ARGV[17], ARGV[18], ARGV[19] == '1', ARGV[20]
  local most_importers, most_importer_bytes = tonumber(ARGV[21]), tonumber(ARGV[22])
  local release_name, can_ask, path_count = ARGV[23], ARGV[24] == '1', tonumber(ARGV[25])
  local paths, verdicts = { unpack(ARGV, 26, 25 + path_count) }, { unpack(ARGV, 26 + path_count) }
  Request.begin(call, KEYS, ARGV)
  Clock.begin(call)
  Limits.begin(call)
  Admission.begin(call)
  Entries.begin(call)
  Held.begin(call)
  Releases.begin(call)
  Adjacency.begin(call)

  local denial = Admission.admit(call)
  if not denial and call.request.taken then
    denial = Taken.denial(call, paths, true)
  end
  if denial then
    return denial
  end
  local verdict_of = {}
  for index, path in ipairs(paths) do
    verdict_of[path] = verdicts[index]
  end

  -- The outcome, with what waits for the caller behind it where nothing has to be asked before.
  local function ended(outcome)
    if outcome[1] ~= 'NO_NEW_HEAD' and outcome[1] ~= 'ASK_WORK' then
      outcome[#outcome + 1] = Waiting.of_caller(call)
    end
    return outcome
  end
  local answer, outcome = ReleaseFiles.release(call, {
    paths = paths, is_everything = path_count == 0, name = release_name, new_head = new_head, agent_head = agent_head,
    is_abandoned = is_abandoned, message = message, most_importers = most_importers, most_importer_bytes = most_importer_bytes,
    can_ask = can_ask, verdict_of = verdict_of,
  })
  return answer or ended(outcome)
end
