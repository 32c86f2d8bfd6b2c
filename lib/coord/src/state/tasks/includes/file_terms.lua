-- What a request says of the files of its task. Needs: admission, and `file_mode`: '' to leave them alone, NO_HEAD if the request has no
-- head of a working copy, HEAD or ABANDON; `paths_of_request`: how many paths cost one request.

-- The head of the branch is needed only where files are claimed or given back.
local refresh_after = request.refresh_after
request.refresh_after = 'ANY'

-- Nil, or a denial: counts the `count_of_paths` files of the request, and finds the head.
local function admit_files(count_of_paths, is_renewal)
  local more = math.floor((count_of_paths - 1) / paths_of_request)
  if more > 0 then
    request.cost = more
    local limited = count('REQUEST', is_renewal)
    if limited then
      return limited
    end
  end
  request.refresh_after = refresh_after
  return request.fetched_head == '' and find_head() or nil
end
