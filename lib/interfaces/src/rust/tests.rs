use coord_scan::Language::Rust;

use crate::table::{assert_different, assert_names, assert_not_understood, assert_same};

#[test]
fn the_names_are_those_of_public_items() {
    assert_names(
        Rust,
        r##"
        pub fn a() {} fn b() {} pub(crate) struct C; pub(self) enum D {} → C, a
        pub enum A { B } pub trait T {} pub type U = u8; pub const V: u8 = 1; pub static mut W: u8 = 1; pub union X { a: u8 } → A, T, U, V, W, X
        pub mod a; mod b; pub mod c { pub fn d() {} fn e() {} pub mod f { pub fn g() {} } } → a, c, c::d, c::f, c::f::g
        pub use a::{b, c as d}; use e::f; → use a::{b,c as d}
        mod a { pub fn b() {} } pub use a::b; → a, use a::b
        #[macro_export] macro_rules! a { () => {} } macro_rules! b { () => {} } → a
        #[cfg(test)] mod tests { pub fn a() {} } #[test] pub fn b() {} pub fn c() {} → c
        pub unsafe extern "C" fn a() {} pub const fn b() {} pub async fn c() {} pub const unsafe fn d() {} → a, b, c, d
        struct A; impl A { pub fn b() {} } →
        pub struct A; impl A { pub fn b() {} } impl B { pub fn c() {} } → A, B
        lazy_static! { pub static ref A: u8 = 1; } → lazy_static!
        fn a() -> [u8; { 1 }] { x } pub fn b() {} → b
        pub fn a<'a>(b: &'a str) -> char { '\'' } pub fn c() { 'x: loop { let _ = b"}"; r#"}"#; } } → a, c
        const A: &str = "}"; pub fn b() {} → b
        #![allow(x)]\npub fn a() {} → a
        pub fn r#type() {} → type
        extern "C" { pub fn a(); } pub fn b() {} → b, extern
        pub fn a(b: B) {} struct B { pub c: D } struct D; → B, D, a
        "##,
    );
}

// rule: languages#interface-rust
#[test]
fn inner_code_is_no_part_of_the_interface() {
    assert_same(
        Rust,
        r"
        pub fn a(b: u8) -> u8 { b }
        pub fn a(b: u8) -> u8 { let c = '}'; /* } */ c + 1 }
        /// Doc.\n#[inline]\npub fn a(mut b: u8) -> u8 {}

        pub struct A { pub a: u8, b: u8 }
        pub struct A {\n    /// Doc.\n    pub a: u8,\n    c: u16,\n}

        pub struct A(pub u8, u8);
        pub struct A(pub u8, u16);

        pub const A: u8 = 1;
        pub const A: u8 = { 2 };

        pub struct A; impl A { pub fn b(&self) {} fn c() {} }
        pub struct A; impl A { fn d() {} pub fn b(&self) { 1 } }

        pub struct A; impl T for A { fn a(&self) {} }
        pub struct A; impl T for A { fn a(&self) { 1 } }

        pub trait A { fn b(&self) {} }
        pub trait A { fn b(&self) { 1 } }

        pub fn a() {} use b::c; fn d() {}
        pub fn a() {} use e::f;

        pub fn a() {}
        pub fn a() {} #[cfg(test)] mod tests { pub fn b() {} }
        ",
    );
}

// rule: languages#interface-rust
#[test]
fn parts_that_others_depend_on_change_the_interface() {
    assert_different(
        Rust,
        r"
        pub fn a() {}
        pub(crate) fn a() {}
        fn a() {}
        pub async fn a() {}
        pub unsafe fn a() {}
        pub fn a(b: u8) {}
        pub fn a(b: &mut u8) {}
        pub fn a() -> u8 {}
        pub fn a<T>() {}
        pub fn a<T: B>() {}
        pub fn a<T>() where T: B {}
        #[must_use] pub fn a() {}

        pub struct A;
        pub struct A {}
        pub struct A { pub b: u8 }
        pub struct A { b: u8 }
        pub struct A { pub b: u16 }
        pub struct A(u8);
        pub struct A(pub u8);
        pub struct A(u8, u8);
        #[derive(Clone)] pub struct A;
        pub struct A<T>(T);
        pub struct A; impl A { pub fn b() {} }
        pub struct A; impl A { pub fn c() {} }
        pub struct A; impl A { pub const B: u8 = 1; }
        pub struct A; impl T for A {}
        pub struct A; impl U for A {}
        pub struct A; impl T for A { type B = u8; }
        pub struct A; impl T for A { type B = u16; }
        pub struct A; impl<T> A { pub fn b() {} }

        pub enum A { B }
        pub enum A { B, C }
        pub enum A { B(u8) }
        pub enum A { B { c: u8 } }
        pub enum A { B = 1 }

        pub trait A {}
        pub trait A: B {}
        pub trait A { fn b(&self); }
        pub trait A { fn b(&self) {} }
        pub trait A { type C; }

        pub use a::b;
        pub use a::c;
        pub use a::b as c;
        pub use a::*;

        pub const A: u8 = 1;
        pub const A: u16 = 1;
        pub static A: u8 = 1;

        pub mod a;
        mod a;
        pub mod a { pub fn b() {} }
        pub mod a { pub fn c() {} }

        #[macro_export] macro_rules! a { () => { 1 } }
        #[macro_export] macro_rules! a { () => { 2 } }

        pub use a::b; mod a { pub fn b() {} }
        pub use a::b; mod a { pub fn b(c: u8) {} }

        a! { pub b }
        a! { pub c }
        ",
    );
}

#[test]
fn text_that_is_not_valid_has_no_known_interface() {
    assert_not_understood(
        Rust,
        r"
        pub fn a() {
        pub fn a( {} }
        }
        pub fn a(] {}
        ",
    );
}
