-- release: releases all that the caller holds of some files, or nothing; with `is_abandoned`, whatever it still holds of them.
-- KEYS, ARGV: those of admission/request, with `new_head`: the caller's new head, absent for none, `agent_head`: that of its working copy,
-- `is_abandoned`: without a push, `message`, `most_importers` to return and their `most_importer_bytes`, `name` of the request, the same
-- if it is repeated, `can_ask`: a source can be asked about the work, `paths`, none for all that the caller holds, and `verdicts` of the
-- source: file -> claim head, a blank and a verdict
-- Verdicts: PUSHED, WAITING (the work branch has it; then a space and the file's blob, '' if it is gone), UNCHANGED, or why not: SAME
--       (the new head is the claim head), ELSEWHERE (it is not on the branch), BEFORE (it was there before the claim), EARLIER (it does not
--       come after the claim), AHEAD (the working copy has commits that are not on the branch), CLAIMS (the files were claimed at too many
--       heads), UNKNOWN
-- Returns { outcome, now, answer }, with the head that it is based on (Answer.head); empty values are omitted:
--           RELEASED: its `time`, `graph_version`, `released`, `missing`: paths that were not held, `others`: entries on those as JSON,
--           `importers` of released files, their `importer_count`, `has_more_importers` beyond the count, `unchanged`: released paths with
--           the content of the claim, `again`: { path, seconds } of earlier releases, `lost`: entries as JSON of others that write files
--           whose work the caller abandons, digest of the `policy` of the branch, `interfaces`: { path, head at the claim, whether it was
--           to be kept, whether the change is pending } of written files, `notices`: { path, the notices } as locks/notices has it,
--           `pending`: paths of changes that are pending now, `pending_left_out`: those without room, `by_store`: { path, head at the
--           claim } of written files whose push is proved by the store alone
--           NOT_PUSHED: `unpushed`: `path` and `why` not: files were written, but the branch does not have the work; nothing released
--           NO_NEW_HEAD: `written` paths: the caller sent no new head; nothing released
--           LOST: `others`, entries as JSON: another holder writes a file; nothing released
--           RELEASED, NOT_PUSHED and LOST have `waiting`: what Waiting.of_caller() returns
--      or { ASK_WORK, now, answer }: only the source knows whether the branch has the work: its `head`, the `etag` of that, absent for
--           none, and `written`: `path` and `claim_head` of each file; nothing released
--      or TOO_MUCH (Answer.too_much(), LOCKS): there are too many on these files; nothing released
--      or one of the denials of Admitted.denial(); nothing released
local Adjacency = require('builds/adjacency')
local Admission = require('admission/admission')
local Admitted = require('locks/admitted')
local Answer = require('answer')
local Entries = require('locks/entries')
local Held = require('locks/held')
local ReleaseFiles = require('locks/release_files')
local Releases = require('locks/releases')
local Waiting = require('seams/waiting')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  local request = call.request
  local paths = request.paths
  Entries.begin(call)
  Held.begin(call)
  Releases.begin(call)
  Adjacency.begin(call)

  local denial = Admitted.denial(call, paths, nil, true)
  if denial then
    return denial
  end
  local reply, outcome, answer = ReleaseFiles.release(call, {
    paths = paths,
    is_everything = #paths == 0,
    name = request.name,
    new_head = request.new_head,
    agent_head = request.agent_head,
    is_abandoned = request.is_abandoned,
    message = request.message,
    most_importers = request.most_importers,
    most_importer_bytes = request.most_importer_bytes,
    has_source = request.can_ask,
    verdict_of = request.verdicts or {},
  })
  if reply then
    return reply
  elseif outcome ~= 'NO_NEW_HEAD' then
    answer.waiting = Answer.some(Waiting.of_caller(call))
  end
  return Answer.reply(call, outcome, answer)
end
