-- The one implementation of the table of blocking.

-- | I want  | other READS the file | other WRITES the file | other WRITES a neighbor      |
-- | READING | granted              | refused (DIRECT)      | granted, reported (NEIGHBOR)  |
-- | WRITING | refused (DIRECT)     | refused (DIRECT)      | refused (NEIGHBOR), or reported where the policy is `warn` |
-- A shared file blocks nobody, and is nobody's neighbor. Who keeps the interface of a file blocks none of its neighbors.
local function is_blocking(wanted, relation, status, neighbor_policy, is_shared, keeps_interface)
  if relation == 'DIRECT' then
    return not is_shared and (wanted == 'WRITING' or status == 'WRITING')
  end
  return wanted == 'WRITING' and status == 'WRITING' and not keeps_interface
    and (neighbor_policy == 'block' or neighbor_policy == 'interface')
end
