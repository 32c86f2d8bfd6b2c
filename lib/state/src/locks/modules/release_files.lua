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
-- repeated; `new_head`, absent for none, `agent_head`, `is_abandoned`, `message`, `most_importers`, `most_importer_bytes`; `has_source`: a
-- source can be asked; `verdict_of`: path -> claim head, a blank and a verdict of the source; `is_partial`: files whose work the branch
-- does not have stay locked, without their task. Returns a reply to the whole request; or nil, the outcome and its answer (see
-- release.lua), and, after a release, the files that stay locked: list of `path` and `why`.
function ReleaseFiles.release(call, release)
  local new_head, agent_head, is_abandoned, message = release.new_head, release.agent_head, release.is_abandoned, release.message
  local most_importers, most_importer_bytes, release_name = release.most_importers, release.most_importer_bytes, release.name
  local has_source, verdict_of, is_partial = release.has_source, release.verdict_of, release.is_partial
  local paths, unpushed = release.paths, {}
  -- Returns the outcome, with the head that it is based on.
  local function finish(outcome, answer)
    for name, value in pairs(Answer.head(call)) do
      answer[name] = value
    end
    return nil, outcome, answer
  end
  if release.is_everything then
    paths = AllHeld.load(call)
  elseif not Entries.load(call, paths, Entries.MAX_AT_ONCE) then
    paths = nil
  end
  if not paths then
    return Answer.too_much(call, 'LOCKS')
  end
  local own, not_held, written = {}, {}, {}
  for _, path in ipairs(paths) do
    local own_entry
    for _, entry in ipairs(call.entries_of[path]) do
      if entry.branch == call.request.branch and Request.is_own(call, entry) then
        own_entry = entry
      end
    end
    if own_entry then
      own[#own + 1] = own_entry
      if own_entry.status == 'WRITING' then
        written[#written + 1] = own_entry
      end
    else
      not_held[#not_held + 1] = path
    end
  end

  local releases = (#not_held > 0 or release.is_everything) and Releases.load(call) or nil
  if releases and #own == 0 then
    for _, earlier in ipairs(releases) do
      if earlier.request == release_name and earlier.answer then
        LockChanges.save(call)
        -- The caller may have queued for these files since, and no longer wants them.
        if call.request.queue then
          Queue.leave_all(call, paths)
        end
        return nil, 'RELEASED', cjson.decode(earlier.answer)
      end
    end
  end
  -- Files that are not held: the caller released them before, others write them now, or neither.
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

  -- `by_store`: { path, claim head } of files whose push is proved by the store alone, which knows nothing of their content. Files whose
  -- interface was to be kept are compared in any case.
  local unchanged, blobs, by_store = {}, {}, {}
  if #written > 0 and not is_abandoned then
    if not new_head then
      local written_paths = {}
      for index, entry in ipairs(written) do
        written_paths[index] = entry.file_path
      end
      LockChanges.save(call)
      return finish('NO_NEW_HEAD', { written = written_paths })
    end

    -- The position of a commit among the stored commits of the branch, newest first; nil for an unknown commit.
    local commits
    local function position_of(commit)
      if not commits then
        commits = { call.head.commit }
        for recent in string.gmatch(not call.request.fetched_head and redis.call('HGET', call.keys.head, 'recent') or '', '%S+') do
          commits[#commits + 1] = recent
        end
      end
      for position, candidate in ipairs(commits) do
        if Commits.is_same_commit(candidate, commit) then
          return position
        end
      end
    end
    -- The verdict on a written file by the store alone, or nil.
    local function verdict_by_store(entry)
      local new_position = position_of(new_head)
      if not new_position or not (Commits.is_same_commit(agent_head, new_head) or position_of(agent_head)) then
        return nil
      end
      local claim_position = position_of(entry.agent_head)
      if has_source or call.request.work_branch ~= '' then
        -- Each stored commit is an ancestor of the head, but the order of two others proves nothing.
        return new_position == 1 and claim_position and 'PUSHED' or nil
      end
      return (not claim_position or claim_position > new_position) and 'PUSHED' or 'EARLIER'
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
      elseif not verdict and has_source then
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
      return finish('NOT_PUSHED', { unpushed = unpushed })
    end
  end

  -- A caller that abandons its work, or releases a part, releases the locks that it still holds.
  if #lost > 0 and not is_partial and not (is_abandoned and #own > 0) then
    LockChanges.save(call)
    if call.request.queue then
      Queue.leave_all(call, paths)
    end
    Refusal.emit(call, 'OPEN', message, paths, 'LOST', lost_paths)
    return finish('LOST', { others = lost })
  end

  if #unpushed > 0 then
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
    own = pushed
  end
  local released, interfaces, notices, pending, pending_left_out = {}, {}, {}, {}, {}
  local is_unchanged = {}
  for _, path in ipairs(unchanged) do
    is_unchanged[path] = true
  end
  for index, entry in ipairs(own) do
    local path, remaining = entry.file_path, {}
    for _, other in ipairs(call.entries_of[path]) do
      if other ~= entry then
        remaining[#remaining + 1] = other
      end
    end
    call.entries_of[path] = remaining
    call.is_changed[path] = true
    Held.count_out(call, entry)
    entry.is_pushed = entry.status == 'WRITING' and not is_abandoned and not is_unchanged[path]
    released[index] = path
    local is_pending = blobs[path] and PendingAdded.add(call, entry, new_head, blobs[path])
    if blobs[path] then
      table.insert(is_pending and pending or pending_left_out, path)
    end
    local keeps = entry.interface == 'keeps'
    if entry.status == 'WRITING' and (keeps or is_pending) and not is_abandoned and not is_unchanged[path] then
      interfaces[#interfaces + 1] = { path, entry.agent_head, keeps, is_pending or false }
    end
    if entry.notices then
      notices[#notices + 1] = { path, entry.notices }
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
    Queue.leave_all(call, paths)
  end
  if is_abandoned and call.governed then
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
  local _, _, answer = finish('RELEASED', {
    time = call.now,
    graph_version = version ~= '' and version or nil,
    released = some(released),
    missing = some(missing),
    others = some(others),
    importers = some(listed),
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
    Releases.remember(call, releases or Releases.load(call), release_name, released, answer)
  end
  return nil, 'RELEASED', answer, unpushed
end

return ReleaseFiles
