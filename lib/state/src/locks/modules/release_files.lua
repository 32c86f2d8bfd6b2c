-- The release of files: of all that the caller holds of them, or of none.
local Admission = require('admission/admission')
local AllHeld = require('locks/all_held')
local Answer = require('answer')
local Commits = require('heads/commits')
local Entries = require('locks/entries')
local Gate = require('seams/gate')
local GraphAge = require('builds/graph_age')
local Held = require('locks/held')
local Importers = require('locks/importers')
local Limits = require('admission/limits')
local LockChanges = require('locks/changes')
local PendingAdded = require('locks/pending_added')
local Queue = require('locks/queue')
local Refusal = require('locks/refusal')
local Releases = require('locks/releases')
local Request = require('admission/request')

local ReleaseFiles = {}

-- Releases the files of `release`: `paths`, or with `is_everything` all that the caller holds; `name` of the request, the same if it is
-- repeated; `new_head`, absent for none, `agent_head`, `is_abandoned`, `message`, `most_importers`, `most_importer_bytes`; `can_ask`: a
-- source can be asked; `verdict_of`: path -> claim head, a blank and a verdict of the source; `is_partial`: files whose work the branch
-- does not have stay, and are of no task any more. Returns a reply of the whole request; or nil, the outcome and its answer (see
-- release.lua), and of files that were released now what stays: list of `path` and `why`.
function ReleaseFiles.release(call, release)
  local new_head, agent_head, is_abandoned, message = release.new_head, release.agent_head, release.is_abandoned, release.message
  local most_importers, most_importer_bytes, release_name = release.most_importers, release.most_importer_bytes, release.name
  local can_ask, verdict_of, is_partial = release.can_ask, release.verdict_of, release.is_partial
  local paths, unpushed = release.paths, {}
  -- The outcome, with the head that it is about.
  local function about(outcome, answer)
    for name, value in pairs(Answer.head(call)) do
      answer[name] = value
    end
    return nil, outcome, answer
  end
  if release.is_everything then
    paths = AllHeld.load(call)
  elseif not Entries.load(call, paths, Entries.MOST_AT_ONCE) then
    paths = nil
  end
  if not paths then
    return Answer.too_much(call, 'LOCKS')
  end
  local own, missing, written = {}, {}, {}
  for _, path in ipairs(paths) do
    local mine
    for _, entry in ipairs(call.entries_of[path]) do
      if entry.branch == call.request.branch and Request.is_own(call, entry) then
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

  local releases = (#missing > 0 or release.is_everything) and Releases.load(call) or nil
  if releases and #own == 0 then
    for _, earlier in ipairs(releases) do
      if earlier.request == release_name and earlier.answer then
        LockChanges.save(call)
        -- The caller may have asked for these files since, and wants them no longer.
        if call.request.queue then
          Queue.released(call, paths)
        end
        return nil, 'RELEASED', cjson.decode(earlier.answer)
      end
    end
  end
  -- Files that are not held: released before by the caller, now written by others, or just gone.
  local gone, again, others, taken, taken_paths, released_at = {}, {}, {}, {}, {}, {}
  for _, earlier in ipairs(releases or {}) do
    for _, path in ipairs(earlier.files) do
      released_at[path] = released_at[path] or earlier.time
    end
  end
  for _, path in ipairs(missing) do
    if released_at[path] then
      again[#again + 1] = { path, call.now - released_at[path] }
    else
      local is_taken = false
      for _, entry in ipairs(call.entries_of[path]) do
        if entry.branch == call.request.branch then
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
  local unchanged, blobs, by_store = {}, {}, {}
  if #written > 0 and not is_abandoned then
    if not new_head then
      local written_paths = {}
      for index, entry in ipairs(written) do
        written_paths[index] = entry.file_path
      end
      LockChanges.save(call)
      return about('NO_NEW_HEAD', { written = written_paths })
    end

    -- The verdict of the store on a written file, or nil. It knows the branch by its stored commits, newest first.
    local places
    local function place_of(commit)
      if not places then
        places = { call.head.commit }
        for one in string.gmatch(not call.request.fetched_head and redis.call('HGET', call.keys.head, 'recent') or '', '%S+') do
          places[#places + 1] = one
        end
      end
      for place, one in ipairs(places) do
        if Commits.is_same_commit(one, commit) then
          return place
        end
      end
    end
    local function verdict_by_store(entry)
      local new_place = place_of(new_head)
      if not new_place or not (Commits.is_same_commit(agent_head, new_head) or place_of(agent_head)) then
        return nil
      end
      local claim_place = place_of(entry.agent_head)
      if can_ask or call.request.work_branch ~= '' then
        -- All of them are ancestors of the head; for two others, the order proves nothing.
        return new_place == 1 and claim_place and 'PUSHED' or nil
      end
      return (not claim_place or claim_place > new_place) and 'PUSHED' or 'EARLIER'
    end

    local undecided = {}
    for _, entry in ipairs(written) do
      local claim_head, result, blob = string.match(verdict_of[entry.file_path] or '', '^(%x+) (%u+) ?(%x*)$')
      local verdict = 'SAME'
      if not Commits.is_same_commit(entry.agent_head, new_head) then
        verdict = claim_head == entry.agent_head and result
        if not verdict then
          verdict = verdict_by_store(entry)
          if verdict == 'PUSHED' and not call.request.fetched_head and entry.interface ~= 'keeps' then
            by_store[#by_store + 1] = { entry.file_path, entry.agent_head }
          end
        end
      end
      if verdict == 'WAITING' then
        blobs[entry.file_path] = blob
      elseif verdict == 'UNCHANGED' then
        unchanged[#unchanged + 1] = entry.file_path
      elseif not verdict and can_ask then
        undecided[#undecided + 1] = { path = entry.file_path, claim_head = entry.agent_head }
      elseif verdict ~= 'PUSHED' then
        unpushed[#unpushed + 1] = { path = entry.file_path, why = verdict or 'UNKNOWN' }
      end
    end
    if #undecided > 0 then
      LockChanges.save(call)
      local is_stored = not call.request.fetched_head
      local too_many = is_stored and Limits.count(call, 'COMMITS')
      if too_many then
        return too_many
      end
      local etag = is_stored and Admission.trusted_etag(call) or nil
      return Answer.reply(call, 'ASK_WORK', { head = call.head.commit, etag = etag, written = undecided })
    end
    if #unpushed > 0 and not is_partial then
      LockChanges.save(call)
      Refusal.emit(call, 'OPEN', message, paths, 'NOT_PUSHED')
      return about('NOT_PUSHED', { unpushed = unpushed })
    end
  end

  -- A caller that abandons its work, or releases a part, releases the locks that it still holds.
  if #taken > 0 and not is_partial and not (is_abandoned and #own > 0) then
    LockChanges.save(call)
    if call.request.queue then
      Queue.released(call, paths)
    end
    Refusal.emit(call, 'OPEN', message, paths, 'LOST', taken_paths)
    return about('LOST', { others = taken })
  end

  if #unpushed > 0 then
    local stays, rest = {}, {}
    for _, file in ipairs(unpushed) do
      stays[file.path] = true
    end
    for _, mine in ipairs(own) do
      if stays[mine.file_path] then
        mine.task, call.is_changed[mine.file_path] = nil, true
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
    for _, entry in ipairs(call.entries_of[path]) do
      if entry ~= mine then
        left[#left + 1] = entry
      end
    end
    call.entries_of[path] = left
    call.is_changed[path] = true
    Held.count_out(call, mine)
    mine.is_pushed = mine.status == 'WRITING' and not is_abandoned and not is_unchanged[path]
    released[index] = path
    local is_pending = blobs[path] and PendingAdded.add(call, mine, new_head, blobs[path])
    if blobs[path] then
      table.insert(is_pending and waits or waits_unknown, path)
    end
    local keeps = mine.interface == 'keeps'
    if mine.status == 'WRITING' and (keeps or is_pending) and not is_abandoned and not is_unchanged[path] then
      interfaces[#interfaces + 1] = { path, mine.agent_head, keeps, is_pending or false }
    end
    if mine.notices then
      notices[#notices + 1] = { path, mine.notices }
    end
  end
  LockChanges.save(call)
  if message ~= '' then
    for _, entry in ipairs(own) do
      entry.message = message
    end
  end
  LockChanges.emit_by_claim(call, 'lock_released', own)
  if call.request.queue then
    Queue.released(call, paths)
  end
  if is_abandoned and call.governed then
    local of_intents = {}
    for _, entry in ipairs(own) do
      if entry.status == 'WRITING' and entry.intent_id then
        of_intents[#of_intents + 1] = entry
      end
    end
    if #of_intents > 0 then
      Gate.give_up(call, of_intents)
    end
  end

  -- For importers of abandoned files nothing has changed.
  local importers, importer_count, has_more = {}, 0, false
  if not is_abandoned then
    importers, importer_count, has_more = Importers.of(call, released, most_importers)
  end
  local importer_bytes, listed = 0, {}
  for _, path in ipairs(importers) do
    importer_bytes = importer_bytes + #path
    listed[#listed + 1] = importer_bytes <= most_importer_bytes and path or nil
  end
  local version = GraphAge.version(call)
  local some, policy = Answer.some, GraphAge.load(call)[4]
  local _, _, answer = about('RELEASED', {
    time = call.now,
    graph_version = version ~= '' and version or nil,
    released = some(released),
    missing = some(gone),
    others = some(others),
    importers = some(listed),
    importer_count = importer_count,
    has_more_importers = has_more or nil,
    unchanged = some(unchanged),
    again = some(again),
    lost = some(taken),
    policy = policy or nil,
    interfaces = some(interfaces),
    notices = some(notices),
    pending = some(waits),
    pending_left_out = some(waits_unknown),
    by_store = some(by_store),
  })
  if #released > 0 then
    Releases.remember(call, releases or Releases.load(call), release_name, released, answer)
  end
  return nil, 'RELEASED', answer, unpushed
end

return ReleaseFiles
