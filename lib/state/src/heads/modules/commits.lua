-- Compares commits; either may be abbreviated.
local Commits = {}

function Commits.is_same_commit(one, other)
  local length = math.min(#one, #other)
  return length >= 7 and string.sub(one, 1, length) == string.sub(other, 1, length)
end

-- Whether `commits`, separated by spaces, contains `commit`.
function Commits.has_commit(commits, commit)
  if commits == commit then
    return #commit >= 7
  end
  for one in string.gmatch(commits, '%S+') do
    if Commits.is_same_commit(one, commit) then
      return true
    end
  end
  return false
end

return Commits
