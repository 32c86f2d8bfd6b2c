-- Remembers the results of a function for texts that most requests repeat.
local Memo = {}

-- Coord sends a dozen different texts; a caller that invokes the functions itself cannot make more of them stay.
local MOST = 64

-- The function `make` of a text, whose results are remembered.
function Memo.of(make)
  local made, count = {}, 0
  return function(text)
    local value = made[text]
    if not value then
      value = make(text)
      if count >= MOST then
        made, count = {}, 0
      end
      made[text], count = value, count + 1
    end
    return value
  end
end

return Memo
