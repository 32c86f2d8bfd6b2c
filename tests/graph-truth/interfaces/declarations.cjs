// Which files of two releases differ in the declarations that TypeScript's own compiler emits for them: `declarations.cjs
// OLDER NEWER`, two folders; needs `typescript` on NODE_PATH. Prints `path<TAB>same|differs|unknown` for each file of both
// whose text differs.
//
// Each file is compiled alone, as `isolatedDeclarations` has it. What only another file or the body of a function tells is
// no declaration: before the compiler sees a text, bodies are emptied, and functions without a return type get `any`. So are
// comments, JSDoc included. Statements, and the names of an import or an export, are sorted.
//
// SHOW=1 prints the declarations of each file that differs, FULL=1 keeps bodies, so that return types are inferred.
const fs = require("fs");
const path = require("path");
const ts = require("typescript");

const [older, newer] = process.argv.slice(2);
const keepsBodies = process.env.FULL === "1";
const EXTENSION = /\.([cm]?[jt]sx?)$/;
const f = ts.factory;
const any = () => f.createKeywordTypeNode(ts.SyntaxKind.AnyKeyword);

function* files(folder, below = "") {
    for (const entry of fs.readdirSync(path.join(folder, below), { withFileTypes: true })) {
        const name = path.posix.join(below, entry.name);
        if (entry.isDirectory()) yield* files(folder, name);
        else if (entry.isFile() && EXTENSION.test(entry.name)) yield name;
    }
}

const has = (node, kind) => node.modifiers?.some((modifier) => modifier.kind === kind) ?? false;

function inferred(node) {
    const isAsync = has(node, ts.SyntaxKind.AsyncKeyword);
    if (node.asteriskToken) return f.createTypeReferenceNode(isAsync ? "AsyncGenerator" : "Generator", [any(), any(), any()]);
    return isAsync ? f.createTypeReferenceNode("Promise", [any()]) : any();
}

// The fields that a body sets on `this`, for a constructor of JavaScript.
function fields(body) {
    const names = new Set();
    const visit = (node) => {
        if (
            ts.isBinaryExpression(node) &&
            node.operatorToken.kind === ts.SyntaxKind.EqualsToken &&
            ts.isPropertyAccessExpression(node.left) &&
            node.left.expression.kind === ts.SyntaxKind.ThisKeyword
        ) {
            names.add(node.left.name.text);
        }
        if (!ts.isFunctionLike(node) || ts.isArrowFunction(node)) ts.forEachChild(node, visit);
    };
    ts.forEachChild(body, visit);
    return [...names].sort().map((name) =>
        f.createExpressionStatement(
            f.createAssignment(f.createPropertyAccessExpression(f.createThis(), name), f.createIdentifier("undefined")),
        ),
    );
}

function withoutBodies(source, isScript) {
    const empty = (node) => f.createBlock(isScript && node ? fields(node) : []);
    const type = (node) => node.type ?? (isScript ? undefined : inferred(node));
    const visit = (node) => {
        if (ts.isArrowFunction(node)) {
            const parameters = ts.visitNodes(node.parameters, visit);
            const { modifiers, typeParameters, equalsGreaterThanToken } = node;
            return f.updateArrowFunction(node, modifiers, typeParameters, parameters, type(node), equalsGreaterThanToken, empty());
        }
        if (ts.isFunctionDeclaration(node) && node.body) {
            const { modifiers, asteriskToken, name, typeParameters } = node;
            const parameters = ts.visitNodes(node.parameters, visit);
            return f.updateFunctionDeclaration(node, modifiers, asteriskToken, name, typeParameters, parameters, type(node), empty(node.body));
        }
        if (ts.isFunctionExpression(node)) {
            const { modifiers, asteriskToken, name, typeParameters } = node;
            const parameters = ts.visitNodes(node.parameters, visit);
            return f.updateFunctionExpression(node, modifiers, asteriskToken, name, typeParameters, parameters, type(node), empty(node.body));
        }
        if (ts.isMethodDeclaration(node) && node.body) {
            const { modifiers, asteriskToken, name, questionToken, typeParameters } = node;
            const parameters = ts.visitNodes(node.parameters, visit);
            return f.updateMethodDeclaration(node, modifiers, asteriskToken, name, questionToken, typeParameters, parameters, type(node), empty());
        }
        if (ts.isConstructorDeclaration(node) && node.body) {
            return f.updateConstructorDeclaration(node, node.modifiers, ts.visitNodes(node.parameters, visit), empty(node.body));
        }
        if (ts.isGetAccessor(node) && node.body) {
            return f.updateGetAccessorDeclaration(node, node.modifiers, node.name, node.parameters, type(node), empty());
        }
        if (ts.isSetAccessor(node) && node.body) {
            return f.updateSetAccessorDeclaration(node, node.modifiers, node.name, node.parameters, empty());
        }
        if (ts.isClassStaticBlockDeclaration(node)) return undefined;
        return ts.visitEachChild(node, visit, undefined);
    };
    return ts.visitNode(source, visit);
}

const printer = ts.createPrinter({ removeComments: true, newLine: ts.NewLineKind.LineFeed });
const print = (node, source) => printer.printNode(ts.EmitHint.Unspecified, node, source);

// The declarations that the compiler emits for a script: it infers them, from this file alone.
const LIB = `interface Array<T>{length:number;[n:number]:T} interface Boolean{} interface CallableFunction{} interface Function{}
interface IArguments{} interface NewableFunction{} interface Number{} interface Object{} interface RegExp{} interface String{}
interface Promise<T>{} interface Symbol{} interface ReadonlyArray<T>{length:number;[n:number]:T}
interface Generator<T,R,N>{} interface AsyncGenerator<T,R,N>{} declare var undefined: any;`;
const lib = ts.createSourceFile("/lib.d.ts", LIB, ts.ScriptTarget.ESNext);

function emitted(name, text) {
    const options = {
        allowJs: true, checkJs: false, declaration: true, emitDeclarationOnly: true, noResolve: true, noLib: false, removeComments: true,
        target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, jsx: ts.JsxEmit.Preserve, skipLibCheck: true, outDir: "/out",
    };
    const source = ts.createSourceFile(name, text, ts.ScriptTarget.ESNext, true);
    let output;
    const host = {
        getSourceFile: (file) => (file === name ? source : file === "/lib.d.ts" ? lib : undefined),
        getDefaultLibFileName: () => "/lib.d.ts",
        writeFile: (file, content) => (output = content),
        getCurrentDirectory: () => "/",
        getCanonicalFileName: (file) => file,
        useCaseSensitiveFileNames: () => true,
        getNewLine: () => "\n",
        fileExists: (file) => file === name || file === "/lib.d.ts",
        readFile: () => undefined,
    };
    ts.createProgram([name], options, host).emit();
    return output;
}

// One line for each declared or imported name, sorted.
function normal(text) {
    const source = ts.createSourceFile("a.d.ts", text, ts.ScriptTarget.ESNext, true);
    const lines = [];
    for (const statement of source.statements) {
        if (ts.isImportDeclaration(statement) && statement.importClause) {
            const { importClause: clause, moduleSpecifier } = statement;
            const from = `${clause.isTypeOnly ? "type " : ""}from ${moduleSpecifier.text}`;
            if (clause.name) lines.push(`import default ${clause.name.text} ${from}`);
            const bindings = clause.namedBindings;
            if (bindings && ts.isNamespaceImport(bindings)) lines.push(`import * ${bindings.name.text} ${from}`);
            else for (const one of bindings?.elements ?? []) lines.push(`import ${print(one, source)} ${from}`);
        } else if (ts.isExportDeclaration(statement) && statement.exportClause && ts.isNamedExports(statement.exportClause)) {
            const from = statement.moduleSpecifier ? ` from ${statement.moduleSpecifier.text}` : "";
            const kind = statement.isTypeOnly ? "type " : "";
            for (const one of statement.exportClause.elements) lines.push(`export ${kind}${print(one, source)}${from}`);
        } else if (ts.isVariableStatement(statement)) {
            const modifiers = (statement.modifiers ?? []).map((modifier) => print(modifier, source)).join(" ");
            const kind = statement.declarationList.flags & ts.NodeFlags.Const ? "const" : "let";
            for (const one of statement.declarationList.declarations) lines.push(`${modifiers} ${kind} ${print(one, source)}`);
        } else {
            lines.push(print(statement, source));
        }
    }
    return lines.sort().join("\n");
}

// What the compiler does with the imports of a module, for declarations that were written by hand.
function withoutUnusedImports(source) {
    const used = new Set();
    const visit = (node) => {
        if (ts.isImportDeclaration(node)) return;
        if (ts.isIdentifier(node)) used.add(node.text);
        ts.forEachChild(node, visit);
    };
    visit(source);
    const keeps = (statement) => {
        const clause = ts.isImportDeclaration(statement) && statement.importClause;
        const bindings = clause && clause.namedBindings;
        const names = [clause?.name, ...(bindings?.elements?.map((one) => one.name) ?? [bindings?.name])].filter(Boolean);
        return !clause || names.some((name) => used.has(name.text));
    };
    return source.statements.filter(keeps).map((statement) => print(statement, source)).join("\n");
}

// Of a script, the compiler leaves out what it cannot resolve: exports from other files.
function reExports(source) {
    const isOne = (statement) => ts.isExportDeclaration(statement) && statement.moduleSpecifier;
    return normal(source.statements.filter(isOne).map((statement) => print(statement, source)).join("\n"));
}

function declarations(name, text) {
    const source = ts.createSourceFile(name, text, ts.ScriptTarget.ESNext, true);
    if (source.parseDiagnostics.length > 0) return undefined;
    // `export import { a } from "b"` is damaged as well, and only a later pass of the compiler says so.
    if (source.statements.some((statement) => ts.isImportDeclaration(statement) && statement.modifiers)) return undefined;
    if (/\.d\.[cm]?ts$/.test(name)) return normal(withoutUnusedImports(source));
    const isScript = /\.[cm]?jsx?$/.test(name);
    const heads = keepsBodies ? text : printer.printFile(withoutBodies(source, isScript));
    if (isScript) {
        const output = emitted("/" + path.posix.basename(name), heads);
        return output === undefined ? undefined : normal(output) + reExports(source);
    }
    const compilerOptions = { declaration: true, removeComments: true, target: ts.ScriptTarget.ESNext, jsx: ts.JsxEmit.Preserve };
    return normal(ts.transpileDeclaration(heads, { compilerOptions, fileName: path.posix.basename(name) }).outputText);
}

for (const name of files(newer)) {
    const before = path.join(older, name);
    if (!fs.existsSync(before)) continue;
    const texts = [before, path.join(newer, name)].map((file) => fs.readFileSync(file, "utf8"));
    if (texts[0] === texts[1] || texts.some((text) => text.length > 1 << 20)) continue;
    let result = "unknown";
    try {
        const [one, other] = texts.map((text) => declarations(name, text));
        if (one !== undefined && other !== undefined) result = one === other ? "same" : "differs";
        if (process.env.SHOW && result === "differs") console.log(`--- ${name}\n${one}\n+++\n${other}`);
    } catch (error) {
        // The compiler itself fails on some scripts.
        if (process.env.SHOW) console.error(name, error);
    }
    console.log(`${name}\t${result}`);
}
