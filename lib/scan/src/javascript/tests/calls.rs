//! Calls and comments that are rare.

use super::*;

#[test]
fn every_call_that_mocks_a_module_is_found() {
    check(
        ALL,
        &[
            ("jest.unstable_mockModule('./a', () => ({}))", &[(Mock, "./a")]),
            (
                "jest.deepUnmock('./a'); jest.unstable_unmockModule('./b'); jest.genMockFromModule('./c')",
                &[(Mock, "./a"), (Mock, "./b"), (Mock, "./c")],
            ),
            (
                "jest\n  .mock('./a')\n  .mock('./b', () => 1)\n  .setTimeout(5).doMock('./c');",
                &[(Mock, "./a"), (Mock, "./b"), (Mock, "./c")],
            ),
            (
                "jest.mock('./a', () => f(')', (1))).unmock('./b')",
                &[(Mock, "./a"), (Mock, "./b")],
            ),
            ("jest.useFakeTimers().mock('./a')", &[(Mock, "./a")]),
            (
                "jest.fn().mock('./a'); jest.requireActual('./b').mock('./a'); jest.mock; f(a).mock('./a')",
                &[(Mock, "./b")],
            ),
            (
                "mock.module('./a', {}); t.mock.module(\"./b\"); mock . module ( './c' )",
                &[(Mock, "./a"), (Mock, "./b"), (Mock, "./c")],
            ),
            (
                "amock.module('./a'); angular.module('./b'); module('./c'); mock.module(a)",
                &[],
            ),
        ],
    );
    check(
        TS,
        &[(
            "jest.mock<typeof import('./a')>('./a').mock<() => void>('./b')",
            &[(Mock, "./a"), (Type, "./a"), (Mock, "./b")],
        )],
    );
}

#[test]
fn a_require_that_node_makes_and_alternatives_are_found() {
    check(
        ALL,
        &[
            (
                "module.require('./a'); module . require('./b'); module.require.resolve('./c')",
                &[(Require, "./a"), (Require, "./b"), (RequireResolve, "./c")],
            ),
            (
                "my.module.require('./a'); amodule.require('./a'); require.main.require('./a'); module.parent.require('./a')",
                &[],
            ),
            ("createRequire(import.meta.url)('./a')", &[(Require, "./a")]),
            (
                "module.createRequire(import.meta.filename)('./a'); createRequire(__filename).resolve('./b')",
                &[(Require, "./a"), (RequireResolve, "./b")],
            ),
            (
                "createRequire(import.meta.url)(a); createRequire(root)('./a'); createRequire(__filename, 1)('./a')",
                &[],
            ),
            (
                "const r = createRequire(import.meta.url);\nr('./a'); r.resolve('./b'); r(c); o.r('./d'); ar('./e')",
                &[(Require, "./a"), (RequireResolve, "./b")],
            ),
            (
                "const nodeRequire = Module.createRequire(__filename); const a = nodeRequire ('./a')",
                &[(Require, "./a")],
            ),
            ("const r = createRequire(root); r('./a')", &[]),
            ("import(c ? './a' : './b')", &[(Dynamic, "./a"), (Dynamic, "./b")]),
            (
                "import(c?.d ?? e === 'x' ? `./a` : f(1, ':') ? './b' : \"./c\", { with: {} })",
                &[(Dynamic, "./a"), (Dynamic, "./b"), (Dynamic, "./c")],
            ),
            (
                "require(process.env.NODE_ENV === 'production' ? './a' : './b')",
                &[(Require, "./a"), (Require, "./b")],
            ),
            (
                "import(c ? a : b); import(c ? './a' + d : './b'); import(c || './a'); import(f(c ? './a' : './b'))",
                &[],
            ),
        ],
    );
}

#[test]
fn a_declaration_adds_to_a_relative_module() {
    check(
        TS,
        &[
            (
                "declare module './b' { import './c' }",
                &[(Type, "./b"), (Import, "./c")],
            ),
            ("declare  module\n'../b' {}", &[(Type, "../b")]),
            (
                "declare module 'vue' {}; a.module './b'; module './b'; declare module '*.css'",
                &[],
            ),
        ],
    );
}

#[test]
fn comments_and_regular_expressions_end_where_the_language_has_it() {
    check(
        ALL,
        &[
            ("// a\u{2028}import './a'", &[(Import, "./a")]),
            ("// a\u{2029}import './a'\n// é import './b'", &[(Import, "./a")]),
            ("a: { b } /'/.test(c); import './a'", &[(Import, "./a")]),
            (
                "switch (a) { case 'b': { c } /'/.test(d); default: { e } /'/.test(f) } import './a'",
                &[(Import, "./a")],
            ),
            ("a = { b: { c } / 2, d: '/' }; import './a'", &[(Import, "./a")]),
            ("a = b ? c : { d } / 2; e = '/'; import './a'", &[(Import, "./a")]),
        ],
    );
    check(
        JS,
        &[
            ("<!-- it's\nimport './a'", &[(Import, "./a")]),
            ("a = 1 <!-- import('./b')\nrequire('./a')", &[(Require, "./a")]),
        ],
    );
}
