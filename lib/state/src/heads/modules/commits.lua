-- Compares commits; either may be abbreviated.
local Commits = {}

function Commits.is_same_commit(left, right)
  local length = math.min(#left, #right)
  return length >= 7 and string.sub(left, 1, length) == string.sub(right, 1, length)
end

-- Whether `commits`, separated by spaces, contains `commit`.
function Commits.has_commit(commits, commit)
  if commits == commit then
    return #commit >= 7
  end
  for candidate in string.gmatch(commits, '%S+') do
    if Commits.is_same_commit(candidate, commit) then
      return true
    end
  end
  return false
end

return Commits
