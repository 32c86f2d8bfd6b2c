-- The release of files: of all of `paths` that the caller holds, or of none. Joined where it is made; it returns from the script
-- unless they are released. Needs: admission, `paths`, `is_everything`: all that the caller holds instead; `new_head`, `agent_head`,
-- `is_abandoned`, `message`, `most_importers`, `most_importer_bytes`, `release_name`, `can_ask`; `verdict_of`: path -> claim head, a
-- blank and a verdict of the source; `is_partial`: files whose work the branch does not have stay, and are of no task any more; ended(answer): what the script
-- returns unless they are released. `released_answer` is the answer behind it, and `unpushed` what stays.
-- @include locks/changes
-- @include locks/refusal
-- @include locks/releases
-- @include locks/importers
-- @include locks/queue
-- @include builds/graph_age
-- @include locks/pending_added

if is_everything then
  -- @include locks/all_held
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

local releases = (#missing > 0 or is_everything) and load_releases() or nil
if releases and #own == 0 then
  for _, release in ipairs(releases) do
    if release.request == release_name and release.answer then
      save_entries()
      -- The caller may have asked for these files since, and wants them no longer.
      if request.queue then
        open_queue().released(paths)
      end
      return ended(cjson.decode(release.answer))
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
        if entry.status == 'WRITING' and not entry.shared then
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

-- `by_store`: { path, claim head } of files whose push the store alone has proved, so that nothing is known of their content. Those
-- whose interface was to be kept are compared in any case.
local unchanged, unpushed, blobs, by_store = {}, {}, {}, {}
if #written > 0 and not is_abandoned then
  if new_head == '' then
    local written_paths = {}
    for index, entry in ipairs(written) do
      written_paths[index] = entry.file_path
    end
    save_entries()
    return ended({ 'NO_NEW_HEAD', now, head.commit, head.age, head.is_unconfirmed, written_paths })
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
    if can_ask or request.work_branch ~= '' then
      -- All of them are ancestors of the head; for two others, the order proves nothing.
      return new_place == 1 and claim_place and 'PUSHED' or nil
    end
    return (not claim_place or claim_place > new_place) and 'PUSHED' or 'EARLIER'
  end

  local undecided = {}
  for _, entry in ipairs(written) do
    local claim_head, told, blob = string.match(verdict_of[entry.file_path] or '', '^(%x+) (%u+) ?(%x*)$')
    local verdict = 'SAME'
    if not is_same_commit(entry.agent_head, new_head) then
      verdict = claim_head == entry.agent_head and told
      if not verdict then
        verdict = verdict_by_store(entry)
        if verdict == 'PUSHED' and request.fetched_head == '' and entry.interface ~= 'keeps' then
          by_store[#by_store + 1] = { entry.file_path, entry.agent_head }
        end
      end
    end
    if verdict == 'WAITING' then
      blobs[entry.file_path] = blob
    elseif verdict == 'UNCHANGED' then
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
    return ended({ 'ASK_WORK', now, head.commit, head.age, head.is_unconfirmed, etag, undecided })
  end
  if #unpushed > 0 and not is_partial then
    save_entries()
    emit_refusal('OPEN', message, paths, 'NOT_PUSHED')
    return ended({ 'NOT_PUSHED', now, head.commit, head.age, head.is_unconfirmed, unpushed })
  end
end

-- A caller that abandons its work, or gives back a part, releases what it still holds.
if #taken > 0 and not is_partial and not (is_abandoned and #own > 0) then
  save_entries()
  if request.queue then
    open_queue().released(paths)
  end
  emit_refusal('OPEN', message, paths, 'LOST', taken_paths)
  return ended({ 'LOST', now, head.commit, head.age, head.is_unconfirmed, taken })
end

if #unpushed > 0 then
  local stays, rest = {}, {}
  for _, file in ipairs(unpushed) do
    stays[file[1]] = true
  end
  for _, mine in ipairs(own) do
    if stays[mine.file_path] then
      mine.task, is_changed[mine.file_path] = nil, true
    else
      rest[#rest + 1] = mine
    end
  end
  own = rest
end
local released, interfaces, notices, waits, waits_unknown = {}, {}, {}, {}, {}
local is_unchanged = {}
for _, path in ipairs(unchanged) do
  is_unchanged[path] = true
end
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
  local is_pending = blobs[path] and pending.add(mine, new_head, blobs[path])
  if blobs[path] then
    table.insert(is_pending and waits or waits_unknown, path)
  end
  local keeps = mine.interface == 'keeps'
  if mine.status == 'WRITING' and (keeps or is_pending) and not is_abandoned and not is_unchanged[path] then
    interfaces[#interfaces + 1] = { path, mine.agent_head, keeps and '1' or '0', is_pending and '1' or '0' }
  end
  if mine.notices then
    notices[#notices + 1] = { path, mine.notices }
  end
end
save_entries()
if message ~= '' then
  for _, entry in ipairs(own) do
    entry.message = message
  end
end
emit_by_claim('lock_released', own)
if request.queue then
  open_queue().released(paths)
end
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
local released_answer = {
  'RELEASED', now, head.commit, head.age, head.is_unconfirmed, version, released, gone, others, listed, importer_count,
  has_more and '1' or '0', unchanged, again, taken, load_graph()[4] or '', interfaces, notices, waits,
  waits_unknown, by_store,
}
if #released > 0 then
  remember_release(releases or load_releases(), release_name, released, released_answer)
end
