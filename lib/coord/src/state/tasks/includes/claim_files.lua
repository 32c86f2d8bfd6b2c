-- The body of claim_files_of(). Needs: file_claims.
local wanted, paths, message, ttl, lookups = 'WRITING', policy.kept(task.files), id .. ': ' .. task.title, seconds, ''
local held, said = surveyed[4] or {}, interface_of
-- A renewal leaves what was said of the interface: edits may have changed it since.
local function interface_of(path)
  return held[path] and held[path].status == 'WRITING' and '' or said(path)
end
local function ended(answer)
  local instead = answer[1] == 'CONFLICT' and suggested({ { team_key, member.handle } }, task_name(id)) or {}
  return told({ 'FILES', now, answer, instead, id })
end
local denied = admit_files(#paths, function()
  return holds_all(paths)
end)
if denied then
  return denied
end
gate.cited = gate.cited ~= '' and gate.cited or task.intent_id or ''
gate.files, of_task = paths, task_name(id)
if table.concat(judged_paths, '\n') ~= table.concat(paths, '\n') then
  gate.judged.intent = ''
end
-- @include locks/claim_files
task.locked = request.branch
return nil, claimed('CLAIMED')
