-- Pending changes as findings of a survey, joined where the branch may have some. Needs: request, and locks/neighbors.
-- @include locks/pending

-- What `paths` have on other work branches than the caller's: findings that block, and that do not. `is_writing`: files that the caller
-- already writes. A policy whose digest ends with `!` lets them block.
pending.findings = function(paths, wanted, is_writing)
  local blocking, harmless = {}, {}
  local may_block = wanted == 'WRITING' and string.sub(load_graph()[4] or '', -1) == '!'
  for place, value in ipairs(redis.call('HMGET', keys.pending, unpack(paths))) do
    for _, entry in ipairs(pending.live(value)) do
      if entry.branch == request.branch and entry.work_branch ~= request.work_branch then
        local path = paths[place]
        local blocks = may_block and not is_own(entry) and not is_writing[path]
        table.insert(blocks and blocking or harmless, { 'PENDING', blocks and '1' or '0', path, '', entry })
      end
    end
  end
  return blocking, harmless
end

-- What the files that `paths` import have on other work branches, where that changes their interfaces. It blocks nobody.
pending.imported = function(paths)
  local findings, files = {}, pending.with_interfaces(request.branch)
  local found, place_of = {}, {}
  if #files > 0 then
    found, place_of = neighbors_to_look_at(paths, 0, files)
  end
  local imported = {}
  for _, path in ipairs(found or {}) do
    imported[#imported + 1] = place_of[path] % 2 == 0 and path or nil
  end
  for place, value in ipairs(#imported > 0 and redis.call('HMGET', keys.pending, unpack(imported)) or {}) do
    for _, entry in ipairs(pending.live(value)) do
      local is_other = entry.work_branch ~= request.work_branch and not is_own(entry)
      if entry.branch == request.branch and is_other and entry.interface_differs then
        local via = paths[math.floor(place_of[imported[place]] / 2)]
        findings[#findings + 1] = { 'PENDING_INTERFACE', '0', via, '>', entry }
      end
    end
  end
  return findings
end
