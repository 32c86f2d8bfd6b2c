-- The only implementation of the blocking rules.
local Blocking = {}

-- | I want  | other READS the file | other WRITES the file | other WRITES a neighbor      |
-- | READING | granted              | refused (DIRECT)      | granted, reported (NEIGHBOR)  |
-- | WRITING | refused (DIRECT)     | refused (DIRECT)      | refused (NEIGHBOR), or reported if the policy is `warn`, or `interface`
-- and both keep their interfaces |
-- A shared file blocks no caller, and does not count as a neighbor.
function Blocking.is_blocking(wanted, relation, status, neighbor_policy, is_shared, both_keep)
  if relation == 'DIRECT' then
    return not is_shared and (wanted == 'WRITING' or status == 'WRITING')
  end
  return wanted == 'WRITING' and status == 'WRITING' and (neighbor_policy == 'block' or (neighbor_policy == 'interface' and not both_keep))
end

-- The caller's declarations about the interfaces of files, by `policy` of locks/policy: a function from the path of a file to keeps,
-- changes or ''.
function Blocking.interfaces(policy)
  local default, is_changed = policy.interface or '', {}
  for _, path in ipairs(policy.changed or {}) do
    is_changed[path] = true
  end
  return function(path)
    return is_changed[path] and 'changes' or default
  end
end

return Blocking
