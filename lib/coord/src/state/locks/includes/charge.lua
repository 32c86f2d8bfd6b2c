-- Charges the caller for locks and lines of the graph that were read beyond those that the number of its paths has paid for. Needs:
-- admission, locks/survey.
-- So much is read in a millisecond of redis-server, as measured (docs/admission.md).
local ENTRIES_OF_A_REQUEST, LINES_OF_A_REQUEST = 80, 1250
local work = math.floor(loaded / ENTRIES_OF_A_REQUEST + (MOST_LINES - lines_left) / LINES_OF_A_REQUEST) - request.cost
if work > 0 then
  count('WORK', nil, work)
end
