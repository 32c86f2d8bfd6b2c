use crate::import_kind::ImportKind::{self, *};
use crate::language::Language;
use crate::scan;

mod calls;

/// The imports of a file in `language`: kind and text.
fn imports(language: Language, text: &str) -> Vec<(ImportKind, String)> {
    scan(language, text.as_bytes())
        .into_iter()
        .map(|found| (found.kind, found.text))
        .collect()
}

/// Every row must give exactly its imports, in every given language.
fn check(languages: &[Language], rows: &[(&str, &[(ImportKind, &str)])]) {
    for (text, expected) in rows {
        for language in languages {
            let expected: Vec<_> = expected
                .iter()
                .map(|(kind, text)| (*kind, (*text).to_owned()))
                .collect();
            assert_eq!(imports(*language, text), expected, "{language:?}: {text}");
        }
    }
}

const JS: &[Language] = &[Language::JavaScript];
const TS: &[Language] = &[Language::TypeScript, Language::TypeScriptJsx];
const JSX: &[Language] = &[Language::JavaScript, Language::TypeScriptJsx];
const ALL: &[Language] = &[Language::JavaScript, Language::TypeScript, Language::TypeScriptJsx];

// rule: languages#js-files
#[test]
fn every_form_of_import_is_found() {
    check(
        ALL,
        &[
            ("import a from './a'", &[(Import, "./a")]),
            ("import './a'", &[(Import, "./a")]),
            ("import\"./a\";import'./b'", &[(Import, "./a"), (Import, "./b")]),
            ("import * as a from './a'", &[(Import, "./a")]),
            ("import*as a from'./a'", &[(Import, "./a")]),
            ("import {} from './a'", &[(Import, "./a")]),
            ("import{a,b as c,default as d,}from'./a'", &[(Import, "./a")]),
            ("import { 'a-b' as c } from './a'", &[(Import, "./a")]),
            ("import a, { b } from './a'", &[(Import, "./a")]),
            ("import a, * as b from './a'", &[(Import, "./a")]),
            ("import from from './a'", &[(Import, "./a")]),
            ("import { from } from './a'", &[(Import, "./a")]),
            ("import type from './a'", &[(Import, "./a")]),
            ("import type, { a } from './a'", &[(Import, "./a")]),
            ("import defer from './a'", &[(Import, "./a")]),
            ("import source from './a'", &[(Import, "./a")]),
            ("import source a from './a'", &[(Import, "./a")]),
            ("import source from from './a'", &[(Import, "./a")]),
            ("import defer * as a from './a'", &[(Import, "./a")]),
            ("import a from './a' with { type: 'json' }", &[(Import, "./a")]),
            (
                "import a from './a' assert { type: 'json' };import './b'",
                &[(Import, "./a"), (Import, "./b")],
            ),
            ("import /* a */ a // b\n from /*'./x'*/ './a'", &[(Import, "./a")]),
            (
                "import {\n  a, // './x'\n  /* } */ b,\n} from './a'",
                &[(Import, "./a")],
            ),
            ("import $a_1, {\u{e9}} from './\u{e9}'", &[(Import, "./\u{e9}")]),
            ("import\u{a0}a\u{feff}from\u{2003}'./a'", &[(Import, "./a")]),
            ("import a from ''", &[(Import, "")]),
            ("import a from './\\u0061\\x62\\u{63}'", &[(Import, "./abc")]),
        ],
    );
}

#[test]
fn every_form_of_export_from_is_found() {
    check(
        ALL,
        &[
            ("export * from './a'", &[(ExportFrom, "./a")]),
            ("export*from'./a'", &[(ExportFrom, "./a")]),
            ("export * as a from './a'", &[(ExportFrom, "./a")]),
            ("export * as 'a-b' from './a'", &[(ExportFrom, "./a")]),
            ("export * as default from './a'", &[(ExportFrom, "./a")]),
            ("export { a, b as default } from './a'", &[(ExportFrom, "./a")]),
            ("export{a}from'./a'", &[(ExportFrom, "./a")]),
            ("export {} from './a'", &[(ExportFrom, "./a")]),
            (
                "export /**/ { a /* } from './x' */ } // \n from './a'",
                &[(ExportFrom, "./a")],
            ),
            ("export { type a } from './a'", &[(ExportFrom, "./a")]),
            ("export { a }\nimport './b'", &[(Import, "./b")]),
            ("export default a\nimport './b'", &[(Import, "./b")]),
            ("export const from = './a'", &[]),
            ("export default './a'", &[]),
            ("export { from }; './a'", &[]),
        ],
    );
}

#[test]
fn type_imports_are_distinguished_from_value_imports() {
    check(
        TS,
        &[
            ("import type A from './a'", &[(Type, "./a")]),
            ("import type { A } from './a'", &[(Type, "./a")]),
            ("import type * as A from './a'", &[(Type, "./a")]),
            ("import type from from './a'", &[(Type, "./a")]),
            ("import typeof A from './a'", &[(Type, "./a")]),
            ("import { type A, type B as C } from './a'", &[(Type, "./a")]),
            ("import { type A, b } from './a'", &[(Import, "./a")]),
            ("import { type as b } from './a'", &[(Import, "./a")]),
            ("import { type as as b } from './a'", &[(Type, "./a")]),
            ("import a, { type B } from './a'", &[(Import, "./a")]),
            ("export type { A } from './a'", &[(Type, "./a")]),
            ("export type * from './a'", &[(Type, "./a")]),
            ("export type * as A from './a'", &[(Type, "./a")]),
            ("export type A = { from: './a' }", &[]),
            ("let a: import('./a').A", &[(Type, "./a")]),
            ("let a: typeof import('./a')", &[(Type, "./a")]),
            (
                "type A = Array<import('./a').B<import('./b').C>>",
                &[(Type, "./a"), (Type, "./b")],
            ),
            ("import('./a').then(a => a)", &[(Dynamic, "./a")]),
            ("import('./a')\n  .catch(b)", &[(Dynamic, "./a")]),
            ("import a = require('./a')", &[(Require, "./a")]),
            ("export import a = require('./a')", &[(Require, "./a")]),
            ("import type a = require('./a')", &[(Type, "./a")]),
            ("import type = require('./a')", &[(Require, "./a")]),
            ("import a = A.B.C; import './b'", &[(Import, "./b")]),
        ],
    );
}

// rule: languages#js-files
#[test]
fn every_call_that_names_a_module_is_found() {
    check(
        ALL,
        &[
            ("import('./a')", &[(Dynamic, "./a")]),
            ("import(`./a`)", &[(Dynamic, "./a")]),
            ("import( /* webpackChunkName: 'x' */ './a' /**/ )", &[(Dynamic, "./a")]),
            ("import('./a', { with: { type: 'json' } })", &[(Dynamic, "./a")]),
            (
                "import.source('./a'); import.defer('./b')",
                &[(Dynamic, "./a"), (Dynamic, "./b")],
            ),
            ("(await import('./a')).b", &[(Dynamic, "./a")]),
            ("require('./a')", &[(Require, "./a")]),
            ("a = { ...require('./a') }", &[(Require, "./a")]),
            ("require ( `./a` , )", &[(Require, "./a")]),
            ("require(require('./a') + './b')", &[(Require, "./a")]),
            ("require.resolve('./a')", &[(RequireResolve, "./a")]),
            ("require.resolve('./a', { paths: [] })", &[(RequireResolve, "./a")]),
            ("import.meta.resolve('./a')", &[(RequireResolve, "./a")]),
            ("new URL('./a', import.meta.url)", &[(Url, "./a")]),
            ("new /**/ URL(`a.png`, import . meta . url,)", &[(Url, "a.png")]),
            ("new URL('./a', location.href); new URL('./b')", &[]),
            ("jest.mock('./a')", &[(Mock, "./a")]),
            (
                "vi.doMock('./a', () => import('./b'))",
                &[(Mock, "./a"), (Dynamic, "./b")],
            ),
            ("vi\n.importActual('./a')", &[(Mock, "./a")]),
            ("jest.requireActual('./a')", &[(Mock, "./a")]),
            ("jest.fn('./a'); vi.mocked('./a')", &[]),
        ],
    );
    check(
        TS,
        &[
            (
                "vi.importActual<typeof import('./a')>('./a')",
                &[(Mock, "./a"), (Type, "./a")],
            ),
            ("vi.importActual<{ a: () => void }>('./a')", &[(Mock, "./a")]),
        ],
    );
}

#[test]
fn a_lookalike_of_an_import_is_none() {
    check(
        ALL,
        &[
            ("import('./a' + b); import(`./${a}`); import(a); import()", &[]),
            ("require('./a' + b); require(a, './b'); require`./a`", &[]),
            (
                "o.import('./a'); o.require('./a'); o?.require('./a'); o\n.require('./a')",
                &[],
            ),
            ("o.export * from './a'", &[]),
            ("importx('./a'); myrequire('./a'); requireX('./a'); $import('./a')", &[]),
            (
                "class A { #import(a) { this.#import('./a') } import(a) {} require(a) {} }",
                &[],
            ),
            ("a = { from: './a', import: './a', require: './a' }", &[]),
            ("a = { import }, './a'", &[]),
            ("import.meta.url; './a'", &[]),
            ("'import \"./a\"'; \"import './a'\"", &[]),
            ("'\\'import \"./a\"'", &[]),
            ("// import './a'\n/* import './a' */", &[]),
            ("/* \n import './a'\n*/", &[]),
            ("`import './a'\nrequire('./a')`", &[]),
            ("`${1}\nimport './a';${`\nimport './a'`}`", &[]),
            ("a = /import '.\\/a'/", &[]),
            ("vi.mock(import('./a' + b))", &[]),
            ("import a from 'b", &[]),
            ("import { a, { b } } from './a'", &[]),
            ("import a b c from './a'", &[]),
            ("import", &[]),
            ("export", &[]),
            ("import {", &[]),
            ("export * as", &[]),
            ("import(", &[]),
            ("new", &[]),
            ("require.", &[]),
        ],
    );
}

#[test]
fn code_behind_everything_that_is_none_is_still_read() {
    check(
        ALL,
        &[
            (
                "a = 4 / 2; b = a /2; // it's\nimport './a'; c = a / b",
                &[(Import, "./a")],
            ),
            (
                "r = /['\"`]/g; s = 'a'.replace(/\\//g, '/*')\nimport './a'",
                &[(Import, "./a")],
            ),
            ("r = /[/'\"]/; import './a'", &[(Import, "./a")]),
            ("if (a) /'/.test(b); import './a'", &[(Import, "./a")]),
            ("for await (const a of b) /`/.test(a); import './a'", &[(Import, "./a")]),
            ("a = (b) / 2; c = '/'; import './a'", &[(Import, "./a")]),
            ("a[0] / 2; c = '/'; import './a'", &[(Import, "./a")]),
            ("return /'/; import './a'", &[(Import, "./a")]),
            ("a.return / 2; b = '/'; import './a'", &[(Import, "./a")]),
            ("a++ / 2; b = '/'; import './a'", &[(Import, "./a")]),
            ("a = ++/'/.c; import './a'", &[(Import, "./a")]),
            ("x => /'/; import './a'", &[(Import, "./a")]),
            ("x => {} \n/'/.test(a); import './a'", &[(Import, "./a")]),
            ("function f() {} /'/.test(a); import './a'", &[(Import, "./a")]),
            ("a = {} / 2; b = '/'; import './a'", &[(Import, "./a")]),
            ("a ? /'/ : /`/; import './a'", &[(Import, "./a")]),
            ("!/'/.test(a); import './a'", &[(Import, "./a")]),
            ("typeof /'/; import './a'", &[(Import, "./a")]),
            ("a = 3. / 2; b = '/'; import './a'", &[(Import, "./a")]),
            ("`a ${`b ${{ c: '}' }} '`} // \" /* `\nimport './a'", &[(Import, "./a")]),
            ("`\\`${'`'}\\${`; import './a'", &[(Import, "./a")]),
            (
                "`${`${`${import('./b')}`}`}`; import './a'",
                &[(Dynamic, "./b"), (Import, "./a")],
            ),
            ("a = 'it\\'s'; import './a'", &[(Import, "./a")]),
            ("a = 'broken\nimport './a'", &[(Import, "./a")]),
            ("a = 'b\\\nimport'; import './a'", &[(Import, "./a")]),
            ("/* a **/ import './a' /**/", &[(Import, "./a")]),
            ("a /* ' */ / b; import './a'", &[(Import, "./a")]),
            ("#!/bin/it's\nimport './a'", &[(Import, "./a")]),
            ("\u{feff}#!/bin/it's\r\nimport './a'", &[(Import, "./a")]),
            ("\u{feff}import './a'", &[(Import, "./a")]),
            ("// it's\rimport './a'", &[(Import, "./a")]),
            (
                "import './a'\n/'/.test(b)\nimport './b'",
                &[(Import, "./a"), (Import, "./b")],
            ),
            ("a < b; import './a'; c > d", &[(Import, "./a")]),
            ("}})) import './a'", &[(Import, "./a")]),
        ],
    );
    check(TS, &[("a! / 2; b = '/'; import './a'", &[(Import, "./a")])]);
}

#[test]
fn elements_are_text_with_code_in_braces() {
    check(
        JSX,
        &[
            ("a = <pre>import x from './a'</pre>; import './b'", &[(Import, "./b")]),
            (
                "a = <p>Don't `stop` // http://x /* </p>; import './a'",
                &[(Import, "./a")],
            ),
            ("a = (\n <p>\n It's `here\n </p>\n); import './a'", &[(Import, "./a")]),
            ("a = <></>; import './a'", &[(Import, "./a")]),
            ("a = <A />; import './a'", &[(Import, "./a")]),
            (
                "a = <A.B c='it`s' d=\"{'\">it's</A.B>; import './a'",
                &[(Import, "./a")],
            ),
            (
                "a = <A b={import('./a')}>{import('./b')} it's <C/>'</A>",
                &[(Dynamic, "./a"), (Dynamic, "./b")],
            ),
            ("a = <A b={`${<B>it's</B>}`}/>; import './a'", &[(Import, "./a")]),
            ("a = <A b=<C>it's</C> d/>; import './a'", &[(Import, "./a")]),
            (
                "a = <A {...b} // it's\n c /* > */>'</A>; import './a'",
                &[(Import, "./a")],
            ),
            ("a = <A>{/* it's */}'</A>; import './a'", &[(Import, "./a")]),
            (
                "a = <A>{b ? <C>it's</C> : '</A>'}</A>; import './a'",
                &[(Import, "./a")],
            ),
            ("a = b && <A>'</A>; return <B>'</B>; import './a'", &[(Import, "./a")]),
            ("a.map(b => <A>it's</A>); import './a'", &[(Import, "./a")]),
            ("a = <A>'</A> / 2; b = '/'; import './a'", &[(Import, "./a")]),
            ("a = <A>-> it's</A>; import './a'", &[(Import, "./a")]),
            ("a = b < c; d = '<'; import './a'", &[(Import, "./a")]),
            ("if (a <b && c> d) import('./a')", &[(Dynamic, "./a")]),
        ],
    );
}

#[test]
fn type_parameters_are_no_elements() {
    check(
        &[Language::TypeScriptJsx],
        &[
            ("const f = <T,>(a: T) => 'x'; import './a'", &[(Import, "./a")]),
            (
                "const f = <T extends B>(a: T) => \"'\"; import './a'",
                &[(Import, "./a")],
            ),
            ("const f = <const T,>(a: T) => a; import './a'", &[(Import, "./a")]),
            ("type F = <T>(a: T) => T; import './a'", &[(Import, "./a")]),
            (
                "interface A { <T>(a: T): void; b: <T>(c: T) => '' }\nimport './a'",
                &[(Import, "./a")],
            ),
            (
                "interface A { a: <T>(b: T) => <U>(c: U) => '' }\nimport './a'; <p>it's</p>",
                &[(Import, "./a")],
            ),
            (
                "a = <Select<string> b='`'>it's</Select>; import './a'",
                &[(Import, "./a")],
            ),
            ("class A { b<T>() {} <T>(c) {} }; import './a'", &[(Import, "./a")]),
        ],
    );
    check(
        &[Language::TypeScript],
        &[
            ("a = <T>b; c = '<'; import './a'", &[(Import, "./a")]),
            ("a = <any>import('./a')", &[(Dynamic, "./a")]),
            ("f = <T>(a: T) => a; import './a'", &[(Import, "./a")]),
        ],
    );
}

#[test]
fn types_in_documentation_are_found_in_javascript_only() {
    let rows: &[(&str, &[(ImportKind, &str)])] = &[
        ("/** @type {import('./a').A} */ let a", &[(JsDoc, "./a")]),
        (
            "/**\n * @param {Array<import(\"./a\")>} a text\n * @returns {import('./b')}\n */",
            &[(JsDoc, "./a"), (JsDoc, "./b")],
        ),
        ("/** @param a {import('./a').A} */", &[(JsDoc, "./a")]),
        (
            "/** @typedef {{ a: import('./a').A, b: { c: import('./b').B } }} C */",
            &[(JsDoc, "./a"), (JsDoc, "./b")],
        ),
        ("/** @import { A } from './a' */", &[(JsDoc, "./a")]),
        (
            "/**\n * @import {\n *   A,\n *   B\n * } from './a'\n * @import * as C from './c'\n */",
            &[(JsDoc, "./a"), (JsDoc, "./c")],
        ),
        ("/** import('./a') {@link import('./a')} @see {import('./a')} */", &[]),
        ("/* @type {import('./a').A} */", &[]),
        ("/** a@type {import('./a').A} */", &[]),
        ("/** @type {important('./a')} */", &[]),
        (
            "/** @type {import('./a') */ import './b'",
            &[(JsDoc, "./a"), (Import, "./b")],
        ),
        ("/** @import */ import './b'", &[(Import, "./b")]),
    ];
    check(JS, rows);
    for (text, expected) in rows {
        let expected = expected.iter().filter(|(kind, _)| *kind == Import).count();
        assert_eq!(imports(Language::TypeScript, text).len(), expected, "{text}");
    }
}

#[test]
fn a_reference_to_a_path_or_to_types_counts_before_the_first_token() {
    check(
        ALL,
        &[
            ("/// <reference path=\"../a.d.ts\" />", &[(Reference, "../a.d.ts")]),
            (
                "// x\n///<reference no-default-lib='true' path = 'a.ts'/>\nimport './b'",
                &[(Reference, "a.ts"), (Import, "./b")],
            ),
            ("/// <reference types=\"node\" />", &[(Reference, "node")]),
            (
                "/// <reference resolution-mode='import' types='./t'/>",
                &[(Reference, "./t")],
            ),
            ("/// <reference lib=\"dom\" />", &[]),
            ("// <reference path=\"a.ts\" />", &[]),
            ("/* /// <reference path=\"a.ts\" /> */", &[]),
            ("let a\n/// <reference path=\"a.ts\" />", &[]),
        ],
    );
}

#[test]
fn the_line_is_that_of_the_specifier() {
    let text = "\n// a\nimport {\n  a,\n} from './a'\n`\n`; require('./b'); /* \n */ import('./c')";
    let lines: Vec<_> = scan(Language::JavaScript, text.as_bytes())
        .into_iter()
        .map(|found| found.line)
        .collect();
    assert_eq!(lines, [5, 7, 8]);
    let crlf = text.replace('\n', "\r\n");
    let lines: Vec<_> = scan(Language::JavaScript, crlf.as_bytes())
        .into_iter()
        .map(|found| found.line)
        .collect();
    assert_eq!(lines, [5, 7, 8]);
}

#[test]
fn a_specifier_that_is_not_utf8_is_left_out() {
    let found = scan(Language::JavaScript, b"import '\xff'; import './a\xc3'; import './b'");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].text, "./b");
}

#[test]
fn lists_of_amd_are_found_and_what_looks_like_them_is_not() {
    check(
        ALL,
        &[
            (
                "define(['./a', \"b\"], function (a, b) {})",
                &[(Amd, "./a"), (Amd, "b")],
            ),
            ("define('name', ['./a'], f)", &[(Amd, "./a")]),
            (
                "define  (['./a'], f); define\n\t('name', ['./b'], f)",
                &[(Amd, "./a"), (Amd, "./b")],
            ),
            (
                "define( /* a */ [ './a' , './b' ], f); 'x'",
                &[(Amd, "./a"), (Amd, "./b")],
            ),
            (
                "define(['require', 'exports', 'text!./a.html'], f)",
                &[(Amd, "./a.html")],
            ),
            ("require(['./a'], function (a) {})", &[(Amd, "./a")]),
            (
                "typeof define === 'function' && define.amd ? define(['./a'], f) : f(require('./b'))",
                &[(Amd, "./a"), (Require, "./b")],
            ),
            (
                "define(function (require) { const a = require('./a') })",
                &[(Require, "./a")],
            ),
            ("define(['./a', other, './b'], f)", &[(Amd, "./a")]),
            ("customElements.define(['./a'])", &[]),
            ("redefine(['./a']); redefine  (['./a']); a.define  (['./a'])", &[]),
            ("define({ a: ['./a'] })", &[]),
            ("'define([\\'./a\\'])'; // define(['./b'])", &[]),
        ],
    );
}
