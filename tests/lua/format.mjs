// The form of the Lua files of the state: prints those that StyLua would write otherwise, and fails. With `--write` it writes them.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as stylua from "@johnnymorganz/stylua";

// StyLua takes a configuration away with each call.
function configuration() {
  const config = stylua.Config.new();
  config.syntax = stylua.LuaVersion.Lua51;
  config.column_width = 140;
  config.indent_type = stylua.IndentType.Spaces;
  config.indent_width = 2;
  config.quote_style = stylua.QuoteStyle.AutoPreferSingle;
  return config;
}

const folder = new URL("../../lib", import.meta.url).pathname;
const files = readdirSync(folder, { recursive: true }).filter((name) => /^(\w*state|store)\/.*\.lua$/.test(name));
const others = files.filter((name) => {
  const path = join(folder, name);
  const text = readFileSync(path, "utf8");
  const formatted = stylua.formatCode(text, configuration(), undefined, stylua.OutputVerification.Full);
  if (process.argv.includes("--write") && formatted !== text) writeFileSync(path, formatted);
  return formatted !== text;
});
console.log(`${files.length} Lua files, of which ${others.length} have another form than StyLua's`);
if (files.length < 100) throw new Error(`the files are not in ${folder}`);
if (others.length > 0 && !process.argv.includes("--write")) {
  console.log(others.join("\n"));
  console.log("Write them by: node tests/lua/format.mjs --write");
  process.exit(1);
}
