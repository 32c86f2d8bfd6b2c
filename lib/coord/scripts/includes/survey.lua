-- What stands in the way of the caller: the one implementation of the table of blocking. Needs: branch, is_own,
-- entries_of, load_entries, neighbors_to_look_at.
--
-- | I want  | other READS the file | other WRITES the file | other WRITES a neighbor      |
-- | READING | granted              | refused (DIRECT)      | granted, reported (NEIGHBOR)  |
-- | WRITING | refused (DIRECT)     | refused (DIRECT)      | refused (NEIGHBOR), or reported where the policy is `warn` |
local function is_blocking(wanted, relation, status, neighbor_policy)
  if relation == 'DIRECT' then
    return wanted == 'WRITING' or status == 'WRITING'
  end
  return wanted == 'WRITING' and status == 'WRITING' and neighbor_policy == 'block'
end

-- Most findings reported in one answer, their bytes as JSON, and most neighbors among them. What blocks comes first, and the
-- first in any case; the rest is counted.
local MOST_FINDINGS, MOST_FINDING_BYTES, MOST_NEIGHBORS = 512, 524288, 256

-- Whether one entry of `value` has both of these fields. An entry is a flat object, and a quote inside of a text is escaped: what
-- has such a field has these characters, and what begins an entry is found nowhere else.
local function has_entry_with(value, one, other)
  local at_one, at_other = string.find(value, one, 1, true), string.find(value, other, 1, true)
  while at_one and at_other do
    local next_entry = string.find(value, '{"', math.min(at_one, at_other), true)
    if not next_entry or math.max(at_one, at_other) < next_entry then
      return true
    end
    at_one = at_one < next_entry and string.find(value, one, next_entry, true) or at_one
    at_other = at_other < next_entry and string.find(value, other, next_entry, true) or at_other
    if at_one < next_entry or at_other < next_entry then
      return false
    end
  end
  return false
end

-- Locked neighbors of `paths`, and how many more there are: lists of { neighbor, entry } that block and that do not. Only what
-- is reported is decoded. Nil where there are too many to look at. `is_writing`: whether the caller writes a file already.
local function survey_neighbors(paths, wanted, neighbor_policy, is_writing)
  local neighbors = neighbors_to_look_at(paths)
  if not neighbors then
    return nil
  end
  local of_path, neighbor_paths = {}, {}
  for index, neighbor in ipairs(neighbors) do
    neighbor_paths[index], of_path[neighbor.path] = neighbor.path, neighbor
  end
  local on_branch, writes = '"branch":' .. cjson.encode(branch), '"status":"WRITING"'
  local blocking, harmless, later, omitted = {}, {}, {}, 0
  local function sort_out(neighbor, value)
    load_value(neighbor.path, value)
    for _, entry in ipairs(entries_of[neighbor.path]) do
      if entry.branch == branch and not is_own(entry) then
        local blocks = not is_writing(neighbor.via) and is_blocking(wanted, 'NEIGHBOR', entry.status, neighbor_policy)
        table.insert(blocks and blocking or harmless, { neighbor, entry })
      end
    end
  end
  each_value(neighbor_paths, function(path, value)
    if value and string.find(value, on_branch, 1, true) then
      local neighbor = of_path[path]
      local may_block = is_blocking(wanted, 'NEIGHBOR', 'WRITING', neighbor_policy) and not is_writing(neighbor.via)
      if #blocking >= MOST_NEIGHBORS then
        omitted = omitted + 1
      elseif may_block and has_entry_with(value, on_branch, writes) then
        sort_out(neighbor, value)
      elseif #later < MOST_NEIGHBORS then
        later[#later + 1] = { neighbor, value }
      else
        omitted = omitted + 1
      end
    end
  end)
  for _, pair in ipairs(later) do
    if #blocking + #harmless < MOST_NEIGHBORS then
      sort_out(unpack(pair))
    else
      omitted = omitted + 1
    end
  end
  return blocking, harmless, omitted
end

-- Looks at `paths` and their neighbors. Returns:
--   findings: list of { relation, '1' if it blocks, requested file, '>' or '<' or '', entry as JSON }, relation being
--             DIRECT, NEIGHBOR or CROSS_BRANCH
--   blocked:  whether any of them blocks
--   omitted:  how many locks were left out of findings, those of neighbors by files where they are very many
--   own:      file path -> the caller's own entry on this branch
-- or nil and what there is too much of to look at: LOCKS on the files, or NEIGHBORS
local function survey(paths, wanted, neighbor_policy)
  if not load_entries(paths, MOST_AT_ONCE) then
    return nil, 'LOCKS'
  end
  local direct, elsewhere, own = { blocking = {}, harmless = {} }, {}, {}
  for _, path in ipairs(paths) do
    for _, entry in ipairs(entries_of[path]) do
      if entry.branch ~= branch then
        if not is_own(entry) then
          elsewhere[#elsewhere + 1] = entry
        end
      elseif is_own(entry) then
        own[path] = entry
      else
        local blocks = is_blocking(wanted, 'DIRECT', entry.status, neighbor_policy)
        table.insert(blocks and direct.blocking or direct.harmless, entry)
      end
    end
  end

  -- A lock for writing that the caller already has is not refused for a neighbor's sake when it is renewed; what is new is
  -- looked at first, so that a neighbor of both counts as a neighbor of the new.
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
  local blocking, harmless, omitted = survey_neighbors(new_first, wanted, neighbor_policy, is_writing)
  if not blocking then
    return nil, 'NEIGHBORS'
  end

  local findings, bytes, neighbor_count = {}, 0, 0
  local function report(relation, blocks, via, sign, entry)
    local json = #findings < MOST_FINDINGS and bytes < MOST_FINDING_BYTES and cjson.encode(entry)
    if not json or (#findings > 0 and bytes + #json > MOST_FINDING_BYTES) then
      omitted = omitted + 1
      return
    end
    bytes = bytes + #json
    findings[#findings + 1] = { relation, blocks, via, sign, json }
  end
  local function report_entries(relation, blocks, entries)
    for _, entry in ipairs(entries) do
      report(relation, blocks, entry.file_path, '', entry)
    end
  end
  local function report_neighbors(blocks, pairs)
    for _, pair in ipairs(pairs) do
      neighbor_count = neighbor_count + 1
      if neighbor_count <= MOST_NEIGHBORS then
        report('NEIGHBOR', blocks, pair[1].via, pair[1].sign, pair[2])
      else
        omitted = omitted + 1
      end
    end
  end
  report_entries('DIRECT', '1', direct.blocking)
  report_neighbors('1', blocking)
  report_entries('DIRECT', '0', direct.harmless)
  report_entries('CROSS_BRANCH', '0', elsewhere)
  report_neighbors('0', harmless)
  return findings, #direct.blocking + #blocking > 0, omitted, own
end
