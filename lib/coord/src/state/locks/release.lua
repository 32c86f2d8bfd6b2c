-- release: releases all that the caller holds of some files, or nothing; with `abandon`, whatever is left of it.
-- KEYS: those of admission/request
-- ARGV: those of admission/request, then 17 the caller's new head or '', 18 the head of its working copy, 19 '1' to abandon
--       the work without a push, 20 message, 21 maximum importers to return, 22 maximum bytes of them, 23 name of the
--       request, the same if it is repeated, 24 '1' if a source can be asked about the work, 25 number of file paths, 0 for
--       all that the caller holds, 26... the file paths, then, if the source was asked, its answer for each: '' or the claim
--       head, a space and a verdict
-- Verdicts: PUSHED, UNCHANGED, or why not: SAME (the new head is the claim head), ELSEWHERE (it is not on the branch),
--       EARLIER (it does not come after the claim), AHEAD (the working copy has commits that are not on the branch), UNKNOWN
-- Returns { RELEASED, now, head or '', its age in seconds or '', '1' if it is unconfirmed, graph version, released paths,
--           paths that were not held, others' entries on those as JSON, files that import released ones, number of these,
--           '1' if there are more beyond the count, released paths with the same content as at the claim, { path, seconds }
--           of earlier releases, entries as JSON of others that write files whose work the caller abandons }
--      or { NOT_PUSHED, now, head, its age, '1' if unconfirmed, list of { path, why not } }: files were written, but the
--           branch does not have the work; nothing released
--      or { NO_NEW_HEAD, now, head, age, unconfirmed, written paths }: the caller sent no new head; nothing released
--      or { LOST, now, head, age, unconfirmed, others' entries as JSON }: another holder writes a file; nothing released
--      or { TOO_MUCH, now, LOCKS }: there are too many on these files; nothing released
--      or { ASK_WORK, now, head, age, unconfirmed, etag or '', list of { path, claim head } }: only the source can tell
--           whether the branch has the work; nothing released
--      or one of the denials of admit(); nothing released
-- RELEASED, NOT_PUSHED and LOST end with what waiting() tells.
local new_head, agent_head, is_abandoned, message = ARGV[17], ARGV[18], ARGV[19] == '1', ARGV[20]
local most_importers, most_importer_bytes = tonumber(ARGV[21]), tonumber(ARGV[22])
local release_name, can_ask, path_count = ARGV[23], ARGV[24] == '1', tonumber(ARGV[25])
local paths, verdicts = { unpack(ARGV, 26, 25 + path_count) }, { unpack(ARGV, 26 + path_count) }
-- @include admission/admission
-- @include locks/changes
-- @include locks/refusal
-- @include locks/releases
-- @include locks/importers
-- @include builds/graph_age
-- @include teams/waiting

-- The outcome, with what waits for the caller behind it.
local function with_waiting(outcome)
  outcome[#outcome + 1] = waiting()
  return outcome
end

local denial = admit()
if denial then
  return denial
end

-- Reads the entries of all files that the caller holds on the branch, and returns these files, sorted; nil if there are too
-- many entries. A caller that holds nothing in the repository causes no read; otherwise the maximum of a repository is the
-- limit.
local function load_held()
  local held = {}
  if not redis.call('HGET', keys.held, '@' .. request.user_id) then
    return held
  end
  local by_caller = '"user_id":' .. cjson.encode(request.user_id)
  local stored = redis.call('HGETALL', keys.locks)
  for index = 1, #stored, 2 do
    local path, value = stored[index], stored[index + 1]
    if string.find(value, by_caller, 1, true) then
      local entries, is_held = cjson.decode(value), false
      for _, entry in ipairs(entries) do
        is_held = is_held or (entry.branch == request.branch and is_own(entry) and not has_expired(entry))
      end
      if is_held then
        held[#held + 1] = path
        load_value(path, value, entries)
      end
      if loaded > MOST_AT_ONCE then
        return nil
      end
    end
  end
  table.sort(held)
  return held
end

if path_count == 0 then
  paths = load_held()
elseif not load_entries(paths, MOST_AT_ONCE) then
  paths = nil
end
if not paths then
  return { 'TOO_MUCH', now, 'LOCKS' }
end
local own, missing, written = {}, {}, {}
for _, path in ipairs(paths) do
  local mine
  for _, entry in ipairs(entries_of[path]) do
    if entry.branch == request.branch and is_own(entry) then
      mine = entry
    end
  end
  if mine then
    own[#own + 1] = mine
    if mine.status == 'WRITING' then
      written[#written + 1] = mine
    end
  else
    missing[#missing + 1] = path
  end
end

local releases = (#missing > 0 or path_count == 0) and load_releases() or nil
if releases and #own == 0 then
  for _, release in ipairs(releases) do
    if release.request == release_name and release.answer then
      save_entries()
      return with_waiting(cjson.decode(release.answer))
    end
  end
end
-- Files that are not held: released before by the caller, now written by others, or just gone.
local gone, again, others, taken, taken_paths, released_at = {}, {}, {}, {}, {}, {}
for _, release in ipairs(releases or {}) do
  for _, path in ipairs(release.files) do
    released_at[path] = released_at[path] or release.time
  end
end
for _, path in ipairs(missing) do
  if released_at[path] then
    again[#again + 1] = { path, now - released_at[path] }
  else
    local is_taken = false
    for _, entry in ipairs(entries_of[path]) do
      if entry.branch == request.branch then
        others[#others + 1] = cjson.encode(entry)
        if entry.status == 'WRITING' then
          is_taken = true
          taken[#taken + 1] = cjson.encode(entry)
          taken_paths[#taken_paths + 1] = path
        end
      end
    end
    if not is_taken then
      gone[#gone + 1] = path
    end
  end
end

local unchanged = {}
if #written > 0 and not is_abandoned then
  if new_head == '' then
    local written_paths = {}
    for index, entry in ipairs(written) do
      written_paths[index] = entry.file_path
    end
    save_entries()
    return { 'NO_NEW_HEAD', now, head.commit, head.age, head.is_unconfirmed, written_paths }
  end

  -- The verdict of the store on a written file, or nil. It knows the branch by its stored commits, newest first.
  local places
  local function place_of(commit)
    if not places then
      places = { head.commit }
      for one in string.gmatch(request.fetched_head == '' and redis.call('HGET', keys.head, 'recent') or '', '%S+') do
        places[#places + 1] = one
      end
    end
    for place, one in ipairs(places) do
      if is_same_commit(one, commit) then
        return place
      end
    end
  end
  local function verdict_by_store(entry)
    local new_place = place_of(new_head)
    if not new_place or not (is_same_commit(agent_head, new_head) or place_of(agent_head)) then
      return nil
    end
    local claim_place = place_of(entry.agent_head)
    if can_ask then
      -- All of them are ancestors of the head; for two others, the order proves nothing.
      return new_place == 1 and claim_place and 'PUSHED' or nil
    end
    return (not claim_place or claim_place > new_place) and 'PUSHED' or 'EARLIER'
  end

  local unpushed, undecided, verdict_of = {}, {}, {}
  for index, path in ipairs(paths) do
    verdict_of[path] = verdicts[index]
  end
  for _, entry in ipairs(written) do
    local claim_head, told = string.match(verdict_of[entry.file_path] or '', '^(%x+) (%u+)$')
    local verdict = 'SAME'
    if not is_same_commit(entry.agent_head, new_head) then
      verdict = claim_head == entry.agent_head and told or verdict_by_store(entry)
    end
    if verdict == 'UNCHANGED' then
      unchanged[#unchanged + 1] = entry.file_path
    elseif not verdict and can_ask then
      undecided[#undecided + 1] = { entry.file_path, entry.agent_head }
    elseif verdict ~= 'PUSHED' then
      unpushed[#unpushed + 1] = { entry.file_path, verdict or 'UNKNOWN' }
    end
  end
  if #undecided > 0 then
    save_entries()
    local is_stored = request.fetched_head == ''
    local too_many = is_stored and count('COMMITS')
    if too_many then
      return too_many
    end
    local etag = is_stored and trusted_etag() or ''
    return { 'ASK_WORK', now, head.commit, head.age, head.is_unconfirmed, etag, undecided }
  end
  if #unpushed > 0 then
    save_entries()
    emit_refusal('OPEN', message, paths, 'NOT_PUSHED')
    return with_waiting({ 'NOT_PUSHED', now, head.commit, head.age, head.is_unconfirmed, unpushed })
  end
end

-- A caller that abandons its work releases what it still holds.
if #taken > 0 and not (is_abandoned and #own > 0) then
  save_entries()
  emit_refusal('OPEN', message, paths, 'LOST', taken_paths)
  return with_waiting({ 'LOST', now, head.commit, head.age, head.is_unconfirmed, taken })
end

local released = {}
for index, mine in ipairs(own) do
  local path, left = mine.file_path, {}
  for _, entry in ipairs(entries_of[path]) do
    if entry ~= mine then
      left[#left + 1] = entry
    end
  end
  entries_of[path] = left
  is_changed[path] = true
  count_out(mine)
  released[index] = path
end
save_entries()
if message ~= '' then
  for _, entry in ipairs(own) do
    entry.message = message
  end
end
emit_by_claim('lock_released', own)
if is_abandoned and governed then
  local of_intents = {}
  for _, entry in ipairs(own) do
    if entry.status == 'WRITING' and entry.intent_id then
      of_intents[#of_intents + 1] = entry
    end
  end
  if #of_intents > 0 then
    -- @include intents/abandoned
    give_up(of_intents)
  end
end

-- For importers of abandoned files nothing has changed.
local importers, importer_count, has_more = {}, 0, false
if not is_abandoned then
  importers, importer_count, has_more = importers_of(released, most_importers)
end
local importer_bytes, listed = 0, {}
for _, path in ipairs(importers) do
  importer_bytes = importer_bytes + #path
  listed[#listed + 1] = importer_bytes <= most_importer_bytes and path or nil
end
local version = graph_version()
local answer = {
  'RELEASED', now, head.commit, head.age, head.is_unconfirmed, version, released, gone, others, listed, importer_count,
  has_more and '1' or '0', unchanged, again, taken,
}
if #released > 0 then
  remember_release(releases or load_releases(), release_name, released, answer)
end
return with_waiting(answer)
