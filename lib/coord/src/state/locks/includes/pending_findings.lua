-- Pending changes as findings of a survey, joined where the branch may have some. Needs: request.
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
