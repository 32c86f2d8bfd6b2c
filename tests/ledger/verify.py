"""verify.py REPOSITORY FILE [COUNT:HASH...]: prints the last point of a ledger, or the first line that is wrong."""
import hashlib, json, re, sys
CHAIN = re.compile(rb'(.*),"chain":\{"seq":([1-9][0-9]*),"prev":"([0-9a-f]{64})","hash":"([0-9a-f]{64})"\}\}', re.S)
sha = lambda data: hashlib.sha256(data).hexdigest()
fail = lambda line, why: sys.exit(f"line {line}: {why}")
def never_sealed(line):  # an object without any part of a seal
    try: return not re.search(rb',"chain":\{"seq":|,"prev":"[0-9a-f]{64}', line) and "chain" not in json.loads(line).keys()
    except (ValueError, AttributeError, RecursionError): return False

repository, path, *anchors = sys.argv[1:]
*texts, rest = open(path, "rb").read().split(b"\n")
lines = [(line, text, CHAIN.fullmatch(text)) for line, text in enumerate(texts, 1)]
begin = next((index for index, (_, _, found) in enumerate(lines) if found), len(lines))
foreign, lines, tail, adopted, adopts = lines[:begin], lines[begin:], [], False, False
ADOPTS = re.compile(rb'"action_type":"STATE_TRANSITION","payload":\{"tool_input":\{"bytes":\d+,"lines":\d+\},"hash":"sha256:[0-9a-f]{64}"\}')
whole = b"".join(text + b"\n" for _, text, _ in foreign)
adoption = b'"tool_input":{"bytes":%d,"lines":%d},"hash":"sha256:%s"}' % (len(whole), len(foreign), sha(whole).encode())
changed = [line for line, text, _ in foreign if not never_sealed(text)]
seq, prev = 0, sha(b"coord ledger v1\n%s\n" % repository.encode())
if lines and (base := f"{int(lines[0][2][2]) - 1}:{lines[0][2][3].decode()}") in anchors: seq, prev = int(base.split(":")[0]), base[-64:]
elif lines and changed and lines[0][2][2] != b"1": fail(changed[0], "not what was sealed")
start, met = seq, {f"{seq}:{prev}"}
for line, text, found in lines:
    if not found: tail.append((line, text)); continue
    if tail: fail(tail[0][0], "not what was sealed")
    seq, before, prev = seq + 1, prev, sha(prev.encode() + b"\n" + found[1] + b"}")
    if (int(found[2]), found[3].decode(), found[4].decode()) != (seq, before, prev): fail(line, "not what was sealed")
    met.add(f"{seq}:{prev}")
    if ADOPTS.search(found[1]): adopts, adopted = True, adopted or adoption in found[1]
for line, text in tail:
    if not never_sealed(text): fail(line, "not what was sealed")
if changed and not adopted: fail(changed[0], "neither sealed nor adopted")
if foreign and adopts and not adopted: fail(1, "not the lines that were adopted")
if rest: fail(len(texts) + 1, "the last line has no end")
for anchor in anchors:
    if int(anchor.split(":")[0]) >= start and anchor not in met: fail(len(texts) + 1, f"not on the way through {anchor}")
print(f"{seq}:{prev}")
