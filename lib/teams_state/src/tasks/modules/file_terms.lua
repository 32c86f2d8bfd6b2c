-- How a request handles the files of its task.
local Admission = require('admission/admission')
local Limits = require('admission/limits')

local FileTerms = {}

function FileTerms.begin(call)
  -- The head of the branch is needed only if files are claimed or released.
  call.needs_head = not call.request.any_head
  call.request.any_head = true
end

-- Nil, or a denial: counts the `count_of_paths` files of the request, and finds the head.
function FileTerms.admit_files(call, count_of_paths, is_renewal)
  local extra_cost = math.floor((count_of_paths - 1) / call.request.paths_of_request)
  if extra_cost > 0 then
    call.request.cost = extra_cost
    local limited = Limits.count(call, 'REQUEST', is_renewal)
    if limited then
      return limited
    end
  end
  call.request.any_head = not call.needs_head
  return not call.request.fetched_head and Admission.find_head(call) or nil
end

return FileTerms
