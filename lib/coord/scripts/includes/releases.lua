-- What was given back lately: so a release that is asked again, because its answer was lost, gets the same answer, and one of
-- files that were given back says so. Field: who, on which branch -> JSON, newest first: when, which request, which files, and
-- what was answered. Needs: user_id, agent_id, branch, now.
--
-- Bounded: for one holder on one branch in number and bytes, for a repository in holders, all of it in time.
local releases_key
local RELEASES_KEPT_FOR = 600
local MOST_RELEASES = 16
local MOST_RELEASES_BYTES = 65536
local MOST_RELEASERS = 256

local function releaser()
  return user_id .. '\n' .. agent_id .. '\n' .. branch
end

-- Those of the caller, newest first.
local function load_releases()
  local json, releases = redis.call('HGET', releases_key, releaser()), {}
  for _, release in ipairs(json and cjson.decode(json) or {}) do
    if now - release.time < RELEASES_KEPT_FOR then
      releases[#releases + 1] = release
    end
  end
  return releases
end

-- Keeps as many of `releases` as there is room for, newest first; one that is too large with its answer is kept without, and
-- one that still is, is not kept.
local function save_releases(releases)
  local texts, bytes = {}, 0
  for _, release in ipairs(releases) do
    local text = cjson.encode(release)
    if #text > MOST_RELEASES_BYTES then
      release.answer = nil
      text = cjson.encode(release)
    end
    if #text <= MOST_RELEASES_BYTES then
      bytes = bytes + #text
      if bytes > MOST_RELEASES_BYTES or #texts == MOST_RELEASES then
        break
      end
      texts[#texts + 1] = text
    end
  end
  local name = releaser()
  if #texts == 0 then
    redis.call('HDEL', releases_key, name)
    return
  end
  local is_new = redis.call('HSET', releases_key, name, '[' .. table.concat(texts, ',') .. ']') == 1
  redis.call('EXPIRE', releases_key, RELEASES_KEPT_FOR)
  if is_new then
    -- A holder has a line feed in its name, a place in the row has none.
    local place = '#' .. redis.call('HINCRBY', releases_key, '#', 1) % MOST_RELEASERS
    local before = redis.call('HGET', releases_key, place)
    if before and before ~= name then
      redis.call('HDEL', releases_key, before)
    end
    redis.call('HSET', releases_key, place, name)
  end
end

-- Notes that `files` were given back by `request`, and what is answered to it.
local function remember_release(releases, request, files, answer)
  table.insert(releases, 1, { time = now, request = request, files = files, answer = cjson.encode(answer) })
  save_releases(releases)
end

-- What is held anew was not given back.
local function forget_releases(paths)
  local releases = load_releases()
  if #releases == 0 then
    return
  end
  local is_held, kept, is_changed_here = {}, {}, false
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
      is_changed_here = true
      release.files, release.answer = files, nil
    end
    if #files > 0 then
      kept[#kept + 1] = release
    end
  end
  if is_changed_here then
    save_releases(kept)
  end
end
