-- Remembers the results of a function for texts that most requests repeat.
local Memo = {}

-- Coord sends about a dozen different texts. The bound is for callers that invoke the functions themselves.
local MAX_RESULTS = 64

-- The function `compute` of a text, with remembered results.
function Memo.of(compute)
  local results, count = {}, 0
  return function(text)
    local result = results[text]
    if not result then
      result = compute(text)
      if count >= MAX_RESULTS then
        results, count = {}, 0
      end
      results[text], count = result, count + 1
    end
    return result
  end
end

return Memo
