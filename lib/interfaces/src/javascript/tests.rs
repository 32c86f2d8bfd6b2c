use coord_scan::Language::{JavaScript, TypeScript, TypeScriptJsx};

use crate::table::{assert_different, assert_names, assert_not_understood, assert_same};

#[test]
fn the_names_are_what_others_can_import() {
    assert_names(
        TypeScript,
        r"
        export const a = 1, b = 2; let c = 3 → a, b
        export function f() {}\nexport class C {}\nfunction g() {} → C, f
        export default function () {} → default
        export default class A {} → default
        const a = 1; export { a, a as b, a as default } → a, b, default
        export { a as b, type C } from './x' → C, b
        export * from './x'; export * as y from './y' → * from ./x, y
        export type A = B; type B = 1; type D = 2; export const c = 1 → A, B, c
        export interface A extends B {} interface B {} interface C {} f() → A, B
        import { B } from './b'; import { D } from './d'; export type A = B → A, B
        import './x'; export {} → import ./x
        export = a; declare const a: 1 → a, export =
        export as namespace A; export const b = 1 → b, export as namespace
        export import a = B.c → a
        export declare enum A { B }\nexport const enum C { D }\nexport namespace E {} → A, C, E
        export abstract class A {}\nexport async function b() {}\nexport function* c() {} → A, b, c
        export const { a, b: c, d: { e = 1 }, ...f } = x → a, c, e, f
        export const [a, , b = 1] = x → a, b
        declare module 'x' { interface A {} }\nexport {} → x
        declare global { interface A {} }\nexport {} → global
        declare const a: 1; interface B {} → B, a
        import { x } from './x'; declare namespace A {} interface B {} → A, B
        import { x } from './x'; declare namespace A {} interface B {} export { A } → A
        import { x } from './x'; const a = 1; interface B {} →
        @a({ b: 1 }) export class C {}\n@d @e.f() export default class G {} → C, default
        export { x }; import x from './x' → x
        'use strict'\nexport let a\nexport let b\nlet c = a\n++b → a, b
        ",
    );
}

#[test]
fn exports_of_common_js_are_found_wherever_they_are() {
    assert_names(
        JavaScript,
        r"
        exports.a = 1; module.exports.b = 2; exports['c'] = 3 → a, b, c
        module.exports = function (a) {} → module.exports
        module.exports = { a, b: 1, 'c': 2, d() {}, get e() { return 1 }, ...f } → a, b, c, d, e, module.exports
        exports.a = exports.b = void 0; exports.a = 1; exports.b = 2 → a, b
        exports = module.exports = create; function create() {} → module.exports
        exports.a = exports.b = create; function create() {} → a, b
        if (x) { module.exports = require('./a') } else { exports.b = 1 } → b, module.exports
        (function () { exports.a = 1 })() → a
        Object.defineProperty(exports, '__esModule', { value: true }); Object.defineProperty(exports, 'a', { get: b }) → a
        __exportStar(require('./a'), exports) → * from ./a
        var x = {}; __export(x, { a: () => a, b: () => b }); var a = 1; function b() {} → a, b, module.exports
        a.exports = 1; b.module.exports = 2; exports.c == 3; const d = 1; exports.e = d → e
        function a() {} var b = 1 → a, b
        const c = require('c'); function a() {} var b = 1 →
        ",
    );
}

// rule: languages#interface-js
#[test]
fn a_body_is_no_part_of_the_interface() {
    assert_same(
        TypeScript,
        r"
        export function f(a: number): void {}
        export function f(a: number): void { if (a) { return } else g('}') }

        export const f = (a: A) => {}
        export const f = (a: A) => { return { b: /}/ } }
        export const f = (a: A) => g(a)

        export const f = async <T,>(a: T): Promise<T> => a
        export const f = async <T,>(a: T): Promise<T> => { await a }

        export default function () {}
        export default function () { x() }

        export const f = function g() {}
        export const f = function h() { 1 }

        export const o = { f(a) { }, get b() { return 1 } }
        export const o = { f(a) { 2 }, get b() { return 2 } }

        export const o = { f: (a) => 1, g: b => b }
        export const o = { f: (a) => [1, 2], g: b => { } }

        export class A { constructor(a: 1) {} b() {} static { c() } get d() { return 1 } e = () => 1 }
        export class A { constructor(a: 1) { this.x = 1 } b() { c; } static { } get d() { return 2 } e = () => 2 }

        export class A { #a = 1; #b() {} c = 1 }
        export class A { #d = '2'; c = 1 }

        export class A { private a: string = '' }
        export class A { private a = 1 }

        export class A { private a(b: string) {} }
        export class A { private a() { } }

        export const a = <T>(x: T): x is T => !0
        export const a = <T>(x: T): x is T => true

        export function f(a: 1): 2\nexport function f(a: any) { }
        export function f(a: 1): 2\nexport function f(a, b) { c }

        export const a: number = 1
        export const a: number = 2

        export let a = 1
        export let a = 2

        export const a = { b: 1, c: ['x'] }
        export const a = { b: 2, c: ['y'] }

        export namespace A { export function b() {} }
        export namespace A { export function b() { 1 } }

        function a() {} export const b = 1
        function c() {} export const b = 1

        export const a = f(() => 1)
        export const a = f(() => { 2 })

        @A({ b: 1 }) export class C { @d() e: 1 }
        @A({ b: 2 }) export class C { @d(2) e: 1 }
        ",
    );
    assert_same(
        JavaScript,
        r"
        exports.f = function (a) {}
        exports.f = function (a) { return 1 }

        module.exports = { f(a) {} }
        module.exports = { f(a) { 1 } }

        module.exports = class A { b() {} }
        module.exports = class A { b() { 1 } }
        ",
    );
}

#[test]
fn a_formatter_changes_no_interface() {
    assert_same(
        TypeScriptJsx,
        r#"
        export const a = 'b'
        export const a = "b";
        export   const\na =\n  'b'
        export const a /* c */ = 'b' // d

        export const a = 'it\'s'
        export const a = "it's"

        export type A = 'a' | 'b'
        export type A =\n  | 'a'\n  | 'b';

        export interface A { a: 1; b: 2 }
        export interface A {\n  a: 1\n  b: 2\n}

        export function f(a: 1, b: 2) {}
        export function f(\n  a: 1,\n  b: 2,\n) {\n}

        export const f = a => a
        export const f = (a) => a

        export const a = { 'b': 1, c: 2 }
        export const a = {\n  b: 1,\n  c: 2,\n}

        export { a, b } from './x'
        export {\n  b,\n  a,\n} from "./x";

        export class A { a = 1; b() {} }
        export class A {\n  a = 1\n\n  b() {}\n}
        export class A { public a = 1; public b() {} };

        export const a = 1; export const b = 2
        export const b = 2\nexport const a = 1

        export const a: B<C<1>> = x
        export const a : B< C<1> > = y

        #!/usr/bin/env node\n'use strict'\nexport const a = 1
        export const a = 1
        "#,
    );
}

// rule: languages#interface-js
#[test]
fn parts_that_others_depend_on_change_the_interface() {
    assert_different(
        TypeScript,
        r"
        export function f() {}
        export function g() {}
        export function f(a) {}
        export function f(a?) {}
        export function f(a: 1) {}
        export function f(a: 2) {}
        export function f(a = 1) {}
        export function f(...a) {}
        export function f(): 1 {}
        export function f(): Promise<1> {}
        export function f<T>() {}
        export async function f() {}
        export function* f() {}
        export function f(this: A) {}
        export default function f() {}
        export const f = () => {}

        export const a = 1
        export const a = 2
        export const a = '1'
        export let a = 1
        export const a: 1 = 1

        export const a = true
        export const a = false
        export const a = x
        export const a = x()
        export const a = new x()

        export const a = { b: 1 }
        export const a = { b: '1' }
        export const a = { c: 1 }
        export const a = { b: { c: 1 } }

        export const a = [1] as const
        export const a = [2] as const
        export const a = [2]

        export const f = (a): B<C, d.E> => 1
        export const f = (a): B<C, d.F> => 1
        export const f = (a): B<C, d.F>[] => 1

        export default (a): B<C, D> => 1
        export default (a): B<C, E> => 1

        export const a = z.enum(['b'])
        export const a = z.enum(['c'])

        export const a = `b`
        export const a = `c`
        export const a = `c${d}`

        export const a = x as B
        export const a = x as C
        export const a = x satisfies C

        export class A {}
        export abstract class A {}
        export class A extends B {}
        export class A implements B {}
        export class A<T> {}
        export class A { b }
        export class A { b: 1 }
        export class A { b?: 1 }
        export class A { readonly b: 1 }
        export class A { static b: 1 }
        export class A { protected b: 1 }
        export class A { private b: 1 }
        export class A { #b }
        export class A { b() {} }
        export class A { async b() {} }
        export class A { b(c) {} }
        export class A { get b() {} }
        export class A { set b(c) {} }
        export class A { constructor(b: 1) {} }
        export class A { constructor(private b: 1) {} }
        export class A { [b: string]: 1 }

        export interface A { a: 1 }
        export interface A { a?: 1 }
        export interface A { readonly a: 1 }
        export interface A { b: 1 }

        export type A = 1
        export type A = 2
        export type A<T> = 1
        type A = 1; f(); export const b = 1

        export type A = B; type B = 1
        export type A = B; type B = 2

        import { B } from './b'; export type A = B
        import { B } from './c'; export type A = B
        import { C as B } from './b'; export type A = B

        export enum A { B }
        export enum A { B = 1 }
        export enum A { C }
        export const enum A { B }

        const a = 1; export { a }
        const a = 2; export { a }
        const a = 1; export { a as b }
        const a = 1; export default a

        const a = () => 1; export default a
        const a = (b) => 1; export default a

        export * from './a'
        export * from './b'
        export * as a from './a'
        export type * from './a'

        export { a } from './a'
        export { b as a } from './a'
        export { a } from './b'
        export type { a } from './a'

        export function f(a: 1): 2\nexport function f(a: any) {}
        export function f(a: 1): 3\nexport function f(a: any) {}

        declare module 'x' { interface A {} } export {}
        declare module 'x' { interface B {} } export {}

        export namespace A { export const b = 1 }
        export namespace A { export const b = 2 }
        export namespace A { const b = 1 }

        export function f({ a }: A) {}
        export function f({ b }: A) {}

        export const f = (a): 1 => b
        export const f = (a): 2 => b
        export const f = (a) => b

        export const f = (a): (b: 1) => 2 => c
        export const f = (a): (b: 1) => 3 => c
        ",
    );
    // A value and a type of one name.
    assert_different(
        TypeScript,
        r"
        export const a = 1; export type a = 2
        const a = 1; export type a = 2
        export const a = 1; type a = 2
        ",
    );
    assert_different(
        JavaScript,
        r"
        exports.f = function (a) {}
        exports.f = function (b, a) {}
        exports.g = function (a) {}
        module.exports = function (a) {}

        exports.f = f; function f(a) {}
        exports.f = f; function f(a, b) {}

        module.exports = { a }; const a = 1
        module.exports = { a, b }; const a = 1, b = 1

        module.exports = A; class A { b() {} }
        module.exports = A; class A { c() {} }

        module.exports = A; function A() {} A.prototype.b = function () {}
        module.exports = A; function A() {} A.prototype.c = function () {}

        module.exports = A; function A() {} A.b = 1
        module.exports = A; function A() {}

        export class A { constructor() { this.a = 1 } }
        export class A { constructor() { this.b = 1 } }

        __exportStar(require('./a'), exports)
        __exportStar(require('./b'), exports)
        ",
    );
}

#[test]
fn code_that_looks_like_something_else_is_read_as_what_it_is() {
    assert_same(
        TypeScript,
        r"
        export const a = 1
        const b = x / y / 'z'; export const a = 1
        const b = x ? /[/}]/ : /'/g; export const a = 1
        if (x) /'/.test(y); export const a = 1
        const b = `{${ {c: `}`}.c }'`; export const a = 1
        const b = x < y, c = z > (w); export const a = 1
        const b = x++ / 2, c = '/'; export const a = 1
        const b = x! / 2, c = '/'; export const a = 1
        label: for (const b of c) { break label }\nexport const a = 1
        switch (x) { case '}': /}/ }\nexport const a = 1
        const exports_ = 1\nexport const a = 1
        const b = { if: 1, class: 2, function: 3 }.function / 4\nexport const a = 1
        var b = c\n/* d */ export const a = 1
        let type = 1, declare = 2, namespace = 3\ntype = 2\ndeclare\nnamespace\nexport const a = 1
        const b = <any>c; const d = <T>(e: T) => e; export const a = 1
        b\n(c)\n;[d] = e\nexport const a = 1
        ",
    );
    assert_same(
        TypeScriptJsx,
        r#"
        export const a = 1
        const b = <p title='"'>it's {`}`} <b/> {'<'} </p>; export const a = 1
        const b = c && <></>; export const a = 1
        const b = <T,>(c: T) => c; const d = <T extends E>(f: T) => <p>{f}</p>; export const a = 1
        interface B { c: <T>(d: T) => void }\nexport const a = 1
        const b = <List<string> of={c => <b>{c}</b>}>'</List>; export const a = 1
        const b = <p>{/* it's */}</p>; export const a = 1
        "#,
    );
}

#[test]
fn an_element_is_of_one_type_whatever_is_in_it() {
    assert_same(
        TypeScriptJsx,
        r"
        export const a = <p>b</p>
        export const a = <div c={d}>{e}</div>
        ",
    );
}

// rule: languages#interface-unknown
#[test]
fn text_that_is_not_valid_has_no_known_interface() {
    assert_not_understood(
        TypeScript,
        r"
        export const a = {
        export const a = )
        export const a = `
        export const a = (]
        export const a = `${
        ",
    );
    assert_not_understood(
        JavaScript,
        r"
        const a = <p>
        const a = <p b=
        const a = <p>{
        const a = <p><b></p>
        ",
    );
}
