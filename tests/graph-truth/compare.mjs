// Precision and recall of edges against a truth: node compare.mjs NAME TRUTH.tsv OURS.tsv [SHOW]
//
// TRUTH has lines `edge<TAB>file<TAB>file`, `source<TAB>file` for each file whose edges it knows, and `ignored<TAB>file` for
// targets that it does not judge. OURS has lines `file<TAB>file`. Prints one line of a table, and SHOW of each kind of miss.
// Ends with 1 where one of the two is under 0.999.
import { readFileSync } from "node:fs";

const BAR = 0.999;
const [name, truthPath, oursPath, show = "0"] = process.argv.slice(2);
const linesOf = (path) => readFileSync(path, "utf8").split("\n").filter(Boolean);

const truth = { edge: new Set(), source: new Set(), ignored: new Set() };
for (const line of linesOf(truthPath)) {
    const [kind, ...rest] = line.split("\t");
    truth[kind].add(rest.join("\t"));
}
let unjudged = 0;
const ours = new Set();
for (const line of linesOf(oursPath)) {
    const [source, target] = line.split("\t");
    if (!truth.source.has(source)) continue;
    if (truth.ignored.has(target)) unjudged += 1;
    else ours.add(line);
}
const wrong = [...ours].filter((edge) => !truth.edge.has(edge));
const missed = [...truth.edge].filter((edge) => !ours.has(edge));
const right = ours.size - wrong.length;
const precision = ours.size === 0 ? 0 : right / ours.size;
const recall = truth.edge.size === 0 ? 0 : right / truth.edge.size;
const cell = (value, width) => String(value).padStart(width);
console.log(
    name.padEnd(24) +
        cell(truth.source.size, 8) +
        cell(truth.edge.size, 9) +
        cell(precision.toFixed(4), 11) +
        cell(recall.toFixed(4), 9) +
        cell(wrong.length, 8) +
        cell(missed.length, 8) +
        cell(unjudged, 10),
);
for (const edge of wrong.slice(0, Number(show))) console.log(`  wrong   ${edge}`);
for (const edge of missed.slice(0, Number(show))) console.log(`  missed  ${edge}`);
process.exit(precision >= BAR && recall >= BAR ? 0 : 1);
