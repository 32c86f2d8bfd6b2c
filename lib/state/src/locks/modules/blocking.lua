-- The one implementation of the table of blocking.
local Blocking = {}

-- | I want  | other READS the file | other WRITES the file | other WRITES a neighbor      |
-- | READING | granted              | refused (DIRECT)      | granted, reported (NEIGHBOR)  |
-- | WRITING | refused (DIRECT)     | refused (DIRECT)      | refused (NEIGHBOR), or reported where the policy is `warn`, or `interface`
-- and both keep their interfaces |
-- A shared file blocks no caller, and is no neighbor.
function Blocking.is_blocking(wanted, relation, status, neighbor_policy, is_shared, both_keep)
  if relation == 'DIRECT' then
    return not is_shared and (wanted == 'WRITING' or status == 'WRITING')
  end
  return wanted == 'WRITING' and status == 'WRITING' and (neighbor_policy == 'block' or (neighbor_policy == 'interface' and not both_keep))
end

-- The caller's declaration about the interface of a file, by `policy` of locks/policy: a function from its path to keeps, changes
-- or ''.
function Blocking.interfaces(policy)
  local word, changes = policy.interface or '', {}
  for _, path in ipairs(policy.changed or {}) do
    changes[path] = true
  end
  return function(path)
    return changes[path] and 'changes' or word
  end
end

return Blocking
