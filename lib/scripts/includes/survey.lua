-- What stands in the way of the caller: the one implementation of the table of blocking. Needs: branch, is_own,
-- entries_of, load_entries, neighbors_to_look_at.
--
-- | I want  | other READS the file | other WRITES the file | other WRITES a neighbour      |
-- | READING | granted              | refused (DIRECT)      | granted, reported (NEIGHBOR)  |
-- | WRITING | refused (DIRECT)     | refused (DIRECT)      | refused (NEIGHBOR), or reported where the policy is `warn` |
local function is_blocking(wanted, relation, status, neighbor_policy)
  if relation == 'DIRECT' then
    return wanted == 'WRITING' or status == 'WRITING'
  end
  return wanted == 'WRITING' and status == 'WRITING' and neighbor_policy == 'block'
end

-- Most neighbours reported in one answer; what blocks comes first.
local MOST_NEIGHBORS = 256

-- Looks at `paths` and their neighbours. Returns:
--   findings: list of { relation, '1' if it blocks, requested file, '>' or '<' or '', entry as JSON }, relation being
--             DIRECT, NEIGHBOR or CROSS_BRANCH
--   blocked:  whether any of them blocks
--   omitted:  how many neighbours were left out of findings
--   own:      file path -> the caller's own entry on this branch
local function survey(paths, wanted, neighbor_policy)
  load_entries(paths)
  local findings, blocked, own = {}, false, {}
  local function report(relation, blocks, via, sign, entry)
    blocked = blocked or blocks
    findings[#findings + 1] = { relation, blocks and '1' or '0', via, sign, cjson.encode(entry) }
  end
  for _, path in ipairs(paths) do
    for _, entry in ipairs(entries_of[path]) do
      if entry.branch ~= branch then
        if not is_own(entry) then
          report('CROSS_BRANCH', false, path, '', entry)
        end
      elseif is_own(entry) then
        own[path] = entry
      else
        report('DIRECT', is_blocking(wanted, 'DIRECT', entry.status, neighbor_policy), path, '', entry)
      end
    end
  end

  -- A lock for writing that the caller already has is not refused for a neighbour's sake when it is renewed; what is new is
  -- looked at first, so that a neighbour of both counts as a neighbour of the new.
  local function is_writing(path)
    return own[path] ~= nil and own[path].status == 'WRITING'
  end
  local new_first = {}
  for _, path in ipairs(paths) do
    new_first[#new_first + 1] = not is_writing(path) and path or nil
  end
  for _, path in ipairs(paths) do
    new_first[#new_first + 1] = is_writing(path) and path or nil
  end
  local neighbors = neighbors_to_look_at(new_first)
  local neighbor_paths = {}
  for index, neighbor in ipairs(neighbors) do
    neighbor_paths[index] = neighbor.path
  end
  load_entries(neighbor_paths)
  local harmless, reported = {}, 0
  for _, neighbor in ipairs(neighbors) do
    for _, entry in ipairs(entries_of[neighbor.path]) do
      if entry.branch == branch and not is_own(entry) then
        if is_writing(neighbor.via) or not is_blocking(wanted, 'NEIGHBOR', entry.status, neighbor_policy) then
          harmless[#harmless + 1] = { neighbor, entry }
        else
          blocked = true
          reported = reported + 1
          if reported <= MOST_NEIGHBORS then
            report('NEIGHBOR', true, neighbor.via, neighbor.sign, entry)
          end
        end
      end
    end
  end
  for _, pair in ipairs(harmless) do
    reported = reported + 1
    if reported <= MOST_NEIGHBORS then
      report('NEIGHBOR', false, pair[1].via, pair[1].sign, pair[2])
    end
  end
  return findings, blocked, math.max(0, reported - MOST_NEIGHBORS), own
end
