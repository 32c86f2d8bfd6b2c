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

-- Reads the entries of the files to release, and returns the files; nil if there are too many locks on them.
local function load_files(call, release)
  if release.is_everything then
    return AllHeld.load(call)
  end
  return Entries.load(call, release.paths, Entries.MAX_AT_ONCE) and release.paths
end

local function own_entry_on(call, path)
  local own_entry
  for _, entry in ipairs(call.entries_of[path]) do
    if entry.branch == call.request.branch and Request.is_own(call, entry) then
      own_entry = entry
    end
  end
  return own_entry
end

-- The caller's entries on the files, the files without one, and those entries that are for writing.
local function sort_files(call, paths)
  local own, not_held, written = {}, {}, {}
  for _, path in ipairs(paths) do
    local own_entry = own_entry_on(call, path)
    if own_entry then
      own[#own + 1] = own_entry
      if own_entry.status == 'WRITING' then
        written[#written + 1] = own_entry
      end
    else
      not_held[#not_held + 1] = path
    end
  end
  return own, not_held, written
end

-- The answer of the same request before, as JSON, or nil.
local function find_earlier(releases, name)
  for _, earlier in ipairs(releases) do
    if earlier.request == name and earlier.answer then
      return earlier.answer
    end
  end
end

-- Files that are not held: the caller released them before, others write them now, or neither. Returns paths of the last kind; `again`:
-- { path, seconds } of earlier releases; entries of others as JSON, those that are for writing, and their paths.
local function sort_not_held(call, not_held, releases)
  local missing, again, others, lost, lost_paths, released_at = {}, {}, {}, {}, {}, {}
  for _, earlier in ipairs(releases or {}) do
    for _, path in ipairs(earlier.files) do
      released_at[path] = released_at[path] or earlier.time
    end
  end
  for _, path in ipairs(not_held) do
    if released_at[path] then
      again[#again + 1] = { path, call.now - released_at[path] }
    else
      local is_lost = false
      for _, entry in ipairs(call.entries_of[path]) do
        if entry.branch == call.request.branch then
          others[#others + 1] = cjson.encode(entry)
          if entry.status == 'WRITING' and not entry.shared then
            is_lost = true
            lost[#lost + 1] = cjson.encode(entry)
            lost_paths[#lost_paths + 1] = path
          end
        end
      end
      if not is_lost then
        missing[#missing + 1] = path
      end
    end
  end
  return missing, again, others, lost, lost_paths
end

-- The position of a commit among the stored commits of the branch, newest first; nil for an unknown commit. Caches these commits in
-- `release.commits`.
local function position_of(call, release, commit)
  local commits = release.commits
  if not commits then
    commits = { call.head.commit }
    for recent in string.gmatch(not call.request.fetched_head and redis.call('HGET', call.keys.head, 'recent') or '', '%S+') do
      commits[#commits + 1] = recent
    end
    release.commits = commits
  end
  for position, candidate in ipairs(commits) do
    if Commits.is_same_commit(candidate, commit) then
      return position
    end
  end
end

-- The verdict on a written file by the store alone, or nil.
local function verdict_by_store(call, release, entry)
  local new_head, agent_head = release.new_head, release.agent_head
  local new_position = position_of(call, release, new_head)
  if not new_position or not (Commits.is_same_commit(agent_head, new_head) or position_of(call, release, agent_head)) then
    return nil
  end
  local claim_position = position_of(call, release, entry.agent_head)
  if release.has_source or call.request.work_branch ~= '' then
    -- Each stored commit is an ancestor of the head, but the order of two others proves nothing.
    return new_position == 1 and claim_position and 'PUSHED' or nil
  end
  return (not claim_position or claim_position > new_position) and 'PUSHED' or 'EARLIER'
end

-- The verdict on a written file, or nil; the blob of a change that waits; and whether the store alone gave the verdict.
local function verdict_on(call, release, entry)
  if Commits.is_same_commit(entry.agent_head, release.new_head) then
    return 'SAME'
  end
  local claim_head, verdict, blob = string.match(release.verdict_of[entry.file_path] or '', '^(%x+) (%u+) ?(%x*)$')
  if verdict and claim_head == entry.agent_head then
    return verdict, blob
  end
  return verdict_by_store(call, release, entry), nil, true
end

-- Judges whether the branch has the work. Returns paths of unchanged files; path -> blob of changes that wait; `by_store`: { path, claim
-- head } of files whose push is proved by the store alone, which knows nothing of their content, without those whose interface was to be
-- kept, which are compared in any case; `path` and `why` of those without a push; and, if only the source knows, `path` and `claim_head`.
local function judge_written(call, release, written)
  local unchanged, blobs, by_store, unpushed, undecided = {}, {}, {}, {}, nil
  for index = 1, release.is_abandoned and 0 or #written do
    local entry = written[index]
    local path = entry.file_path
    local verdict, blob, is_by_store = verdict_on(call, release, entry)
    if is_by_store and verdict == 'PUSHED' and not call.request.fetched_head and entry.interface ~= 'keeps' then
      by_store[#by_store + 1] = { path, entry.agent_head }
    end
    if verdict == 'WAITING' then
      blobs[path] = blob
    elseif verdict == 'UNCHANGED' then
      unchanged[#unchanged + 1] = path
    elseif not verdict and release.has_source then
      undecided = undecided or {}
      undecided[#undecided + 1] = { path = path, claim_head = entry.agent_head }
    elseif verdict ~= 'PUSHED' then
      unpushed[#unpushed + 1] = { path = path, why = verdict or 'UNKNOWN' }
    end
  end
  return unchanged, blobs, by_store, unpushed, undecided
end

local function ask_source(call, undecided)
  local is_stored = not call.request.fetched_head
  local too_many = is_stored and Limits.count(call, 'COMMITS')
  if too_many then
    return too_many
  end
  local etag = is_stored and Admission.trusted_etag(call) or nil
  return Answer.reply(call, 'ASK_WORK', { head = call.head.commit, etag = etag, written = undecided })
end

-- The answer, with the head that it is based on.
local function with_head(call, answer)
  for name, value in pairs(Answer.head(call)) do
    answer[name] = value
  end
  return answer
end

local function leave_queue(call, paths)
  if call.request.queue then
    Queue.leave_all(call, paths)
  end
end

-- Detaches unpushed files from their task. Returns the entries on the other files.
local function without_unpushed(call, own, unpushed)
  local is_unpushed, pushed = {}, {}
  for _, file in ipairs(unpushed) do
    is_unpushed[file.path] = true
  end
  for _, entry in ipairs(own) do
    if is_unpushed[entry.file_path] then
      entry.task, call.is_changed[entry.file_path] = nil, true
    else
      pushed[#pushed + 1] = entry
    end
  end
  return pushed
end

local function remove_entry(call, entry)
  local path, remaining = entry.file_path, {}
  for _, other in ipairs(call.entries_of[path]) do
    if other ~= entry then
      remaining[#remaining + 1] = other
    end
  end
  call.entries_of[path] = remaining
  call.is_changed[path] = true
  Held.count_out(call, entry)
end

-- Releases the caller's entries; `unchanged`, `blobs`: what judge_written() returns. Returns the paths, and `interfaces`, `notices`,
-- `pending` and `pending_left_out` of the answer.
local function release_own(call, release, own, unchanged, blobs)
  local released, interfaces, notices, pending, pending_left_out, is_unchanged = {}, {}, {}, {}, {}, {}
  for _, path in ipairs(unchanged) do
    is_unchanged[path] = true
  end
  for index, entry in ipairs(own) do
    local path = entry.file_path
    remove_entry(call, entry)
    entry.is_pushed = entry.status == 'WRITING' and not release.is_abandoned and not is_unchanged[path]
    released[index] = path
    local is_pending = blobs[path] and PendingAdded.add(call, entry, release.new_head, blobs[path])
    if blobs[path] then
      table.insert(is_pending and pending or pending_left_out, path)
    end
    local keeps = entry.interface == 'keeps'
    if entry.is_pushed and (keeps or is_pending) then
      interfaces[#interfaces + 1] = { path, entry.agent_head, keeps, is_pending or false }
    end
    if entry.notices then
      notices[#notices + 1] = { path, entry.notices }
    end
  end
  return released, interfaces, notices, pending, pending_left_out
end

local function emit_released(call, own, message)
  if message ~= '' then
    for _, entry in ipairs(own) do
      entry.message = message
    end
  end
  LockChanges.emit_by_claim(call, 'lock_released', own)
end

-- Undoes the ownership of intents that came with these locks.
local function restore_owners(call, own)
  local of_intents = {}
  for _, entry in ipairs(own) do
    if entry.status == 'WRITING' and entry.intent_id then
      of_intents[#of_intents + 1] = entry
    end
  end
  if #of_intents > 0 then
    Gate.restore_owners(call, of_intents)
  end
end

-- The importers of released files for which the answer has room, the number of all, and whether there are more.
local function importers_of(call, release, released)
  local bytes, listed = 0, {}
  -- For importers of abandoned files nothing has changed.
  if release.is_abandoned then
    return listed, 0, false
  end
  local importers, count, has_more = Importers.of(call, released, release.most_importers)
  for _, path in ipairs(importers) do
    bytes = bytes + #path
    listed[#listed + 1] = bytes <= release.most_importer_bytes and path or nil
  end
  return listed, count, has_more
end

-- Releases the files of `release`: `paths`, or with `is_everything` all that the caller holds; `name` of the request, the same if it is
-- repeated; `new_head`, absent for none, `agent_head`, `is_abandoned`, `message`, `most_importers`, `most_importer_bytes`; `has_source`: a
-- source can be asked; `verdict_of`: path -> claim head, a blank and a verdict of the source; `is_partial`: files whose work the branch
-- does not have stay locked, without their task. Returns a reply to the whole request; or nil, the outcome and its answer (see
-- release.lua), and, after a release, the files that stay locked: list of `path` and `why`.
function ReleaseFiles.release(call, release)
  local is_abandoned, is_partial, message = release.is_abandoned, release.is_partial, release.message
  local paths = load_files(call, release)
  if not paths then
    return Answer.too_much(call, 'LOCKS')
  end
  local own, not_held, written = sort_files(call, paths)
  local releases = (#not_held > 0 or release.is_everything) and Releases.load(call) or nil
  local earlier = releases and #own == 0 and find_earlier(releases, release.name)
  if earlier then
    LockChanges.save(call)
    -- The caller may have queued for these files since, and no longer wants them.
    leave_queue(call, paths)
    return nil, 'RELEASED', cjson.decode(earlier)
  end
  local missing, again, others, lost, lost_paths = sort_not_held(call, not_held, releases)

  if #written > 0 and not is_abandoned and not release.new_head then
    local written_paths = {}
    for index, entry in ipairs(written) do
      written_paths[index] = entry.file_path
    end
    LockChanges.save(call)
    return nil, 'NO_NEW_HEAD', with_head(call, { written = written_paths })
  end
  local unchanged, blobs, by_store, unpushed, undecided = judge_written(call, release, written)
  if undecided then
    LockChanges.save(call)
    return ask_source(call, undecided)
  end
  if #unpushed > 0 and not is_partial then
    LockChanges.save(call)
    Refusal.emit(call, 'OPEN', message, paths, 'NOT_PUSHED')
    return nil, 'NOT_PUSHED', with_head(call, { unpushed = unpushed })
  end
  -- A caller that abandons its work, or releases a part, releases the locks that it still holds.
  if #lost > 0 and not is_partial and not (is_abandoned and #own > 0) then
    LockChanges.save(call)
    leave_queue(call, paths)
    Refusal.emit(call, 'OPEN', message, paths, 'LOST', lost_paths)
    return nil, 'LOST', with_head(call, { others = lost })
  end

  if #unpushed > 0 then
    own = without_unpushed(call, own, unpushed)
  end
  local released, interfaces, notices, pending, pending_left_out = release_own(call, release, own, unchanged, blobs)
  LockChanges.save(call)
  emit_released(call, own, message)
  leave_queue(call, paths)
  if is_abandoned and call.governed then
    restore_owners(call, own)
  end

  local importers, importer_count, has_more = importers_of(call, release, released)
  local version = GraphAge.version(call)
  local some, policy = Answer.some, GraphAge.load(call)[4]
  local answer = with_head(call, {
    time = call.now,
    graph_version = version ~= '' and version or nil,
    released = some(released),
    missing = some(missing),
    others = some(others),
    importers = some(importers),
    importer_count = importer_count,
    has_more_importers = has_more or nil,
    unchanged = some(unchanged),
    again = some(again),
    lost = some(lost),
    policy = policy or nil,
    interfaces = some(interfaces),
    notices = some(notices),
    pending = some(pending),
    pending_left_out = some(pending_left_out),
    by_store = some(by_store),
  })
  if #released > 0 then
    Releases.remember(call, releases or Releases.load(call), release.name, released, answer)
  end
  return nil, 'RELEASED', answer, unpushed
end

return ReleaseFiles
