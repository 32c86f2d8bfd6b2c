-- Recent releases. A release that is repeated after a lost reply gets the same outcome, and a release of files that were
-- released before says so. keys.releases: holder and branch -> JSON, newest first: time, request, files and outcome.
--
-- The releases of one holder on one branch are bounded in number and bytes, those of a repository in holders, and all in time.
local Releases = {}

local RELEASES_KEPT_FOR = 600

local function field_of_caller(call)
  return call.request.user_id .. '\n' .. call.request.agent_id .. '\n' .. call.request.branch
end

function Releases.begin(call)
  call.has_releases = false -- whether anything is stored for the caller, once that was read
end

-- The releases of the caller, newest first.
function Releases.load(call)
  local json, releases = redis.call('HGET', call.keys.releases, field_of_caller(call)), {}
  call.has_releases = json and true
  for _, release in ipairs(json and cjson.decode(json) or {}) do
    if call.now - release.time < RELEASES_KEPT_FOR then
      releases[#releases + 1] = release
    end
  end
  return releases
end

-- Writes the newest of `releases` that fit; the first may have as many files as a request can name. One that is too large with its
-- outcome is written without it; one that is still too large is dropped.
local function save_releases(call, releases)
  local MAX_RELEASES, MAX_FIRST_BYTES, MAX_RELEASES_BYTES, MAX_RELEASERS = 16, 262144, 65536, 256
  local texts, bytes = {}, 0
  for _, release in ipairs(releases) do
    local most = #texts == 0 and MAX_FIRST_BYTES or MAX_RELEASES_BYTES
    local text = cjson.encode(release)
    if #text > most then
      release.answer = nil
      text = cjson.encode(release)
    end
    if #text <= most then
      bytes = bytes + #text
      if bytes > most or #texts == MAX_RELEASES then
        break
      end
      texts[#texts + 1] = text
    end
  end
  local field = field_of_caller(call)
  if #texts == 0 then
    -- The caller keeps its slot in the ring, for its next release.
    if call.has_releases then
      redis.call('HSET', call.keys.releases, field, '[]')
    end
    return
  end
  local is_new = redis.call('HSET', call.keys.releases, field, '[' .. table.concat(texts, ',') .. ']') == 1
  redis.call('EXPIRE', call.keys.releases, RELEASES_KEPT_FOR)
  if is_new then
    -- The field of a holder contains a line feed; that of a slot in the ring does not.
    local slot = '#' .. redis.call('HINCRBY', call.keys.releases, '#', 1) % MAX_RELEASERS
    local previous = redis.call('HGET', call.keys.releases, slot)
    if previous and previous ~= field then
      redis.call('HDEL', call.keys.releases, previous)
    end
    redis.call('HSET', call.keys.releases, slot, field)
  end
end

-- Records that the request `name` released `files`, and its outcome.
function Releases.remember(call, releases, name, files, answer)
  table.insert(releases, 1, { time = call.now, request = name, files = files, answer = cjson.encode(answer) })
  save_releases(call, releases)
end

-- Files that are held again no longer count as released.
function Releases.forget(call, paths)
  local releases = Releases.load(call)
  if #releases == 0 then
    return
  end
  local is_held, kept, is_fewer = {}, {}, false
  for _, path in ipairs(paths) do
    is_held[path] = true
  end
  for _, release in ipairs(releases) do
    local files = {}
    for _, path in ipairs(release.files) do
      if not is_held[path] then
        files[#files + 1] = path
      end
    end
    if #files < #release.files then
      is_fewer = true
      release.files, release.answer = files, nil
    end
    if #files > 0 then
      kept[#kept + 1] = release
    end
  end
  if is_fewer then
    save_releases(call, kept)
  end
end

return Releases
