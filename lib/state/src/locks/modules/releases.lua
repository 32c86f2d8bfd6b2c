-- Recent releases. A release that is repeated after a lost reply gets the same outcome, and a release of files that were
-- released before says so. Field: holder and branch -> JSON, newest first: time, request, files and outcome. Needs:
-- keys.releases, request.
--
-- Limited for one holder on one branch in number and bytes, for a repository in holders, and for all in time.
local Releases = {}

local RELEASES_KEPT_FOR = 600

local function releaser(call)
  return call.request.user_id .. '\n' .. call.request.agent_id .. '\n' .. call.request.branch
end

function Releases.begin(call)
  call.has_releases = false -- whether anything is stored for the caller, as far as it has been looked at
end

-- Those of the caller, newest first.
function Releases.load(call)
  local json, releases = redis.call('HGET', call.keys.releases, releaser(call)), {}
  call.has_releases = json and true
  for _, release in ipairs(json and cjson.decode(json) or {}) do
    if call.now - release.time < RELEASES_KEPT_FOR then
      releases[#releases + 1] = release
    end
  end
  return releases
end

-- Keeps the newest of `releases` that fit; the first may be of as many files as a request can name. One that is too large with its
-- outcome is kept without it; one that is still too large is dropped.
local function save_releases(call, releases)
  local MOST_RELEASES, MOST_FIRST_BYTES, MOST_RELEASES_BYTES, MOST_RELEASERS = 16, 262144, 65536, 256
  local texts, bytes = {}, 0
  for _, release in ipairs(releases) do
    local most = #texts == 0 and MOST_FIRST_BYTES or MOST_RELEASES_BYTES
    local text = cjson.encode(release)
    if #text > most then
      release.answer = nil
      text = cjson.encode(release)
    end
    if #text <= most then
      bytes = bytes + #text
      if bytes > most or #texts == MOST_RELEASES then
        break
      end
      texts[#texts + 1] = text
    end
  end
  local name = releaser(call)
  if #texts == 0 then
    -- The caller keeps its place in the row, for its next release.
    if call.has_releases then
      redis.call('HSET', call.keys.releases, name, '[]')
    end
    return
  end
  local is_new = redis.call('HSET', call.keys.releases, name, '[' .. table.concat(texts, ',') .. ']') == 1
  redis.call('EXPIRE', call.keys.releases, RELEASES_KEPT_FOR)
  if is_new then
    -- The name of a holder contains a line feed; the name of a place in the ring does not.
    local place = '#' .. redis.call('HINCRBY', call.keys.releases, '#', 1) % MOST_RELEASERS
    local before = redis.call('HGET', call.keys.releases, place)
    if before and before ~= name then
      redis.call('HDEL', call.keys.releases, before)
    end
    redis.call('HSET', call.keys.releases, place, name)
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
