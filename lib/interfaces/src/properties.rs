//! Laws for every text: no panic, linear time and memory, and only parts that others depend on change an interface.

use coord_scan::{Language, meter};
use coord_test_texts::pieces::piece;
use proptest::prelude::*;

use super::{
    InterfaceResult, InterfaceUnknown, MAX_INTERFACE_BYTES, MAX_INTERFACE_NAME_BYTES, MAX_INTERFACE_NAMES, interface,
};

/// Most steps that a reading may take for each byte of the text.
const READS_PER_BYTE: usize = 600;

/// Reads the interface of `text`, and checks the laws of every result.
fn checked(language: Language, text: &[u8]) -> InterfaceResult {
    meter::take();
    let found = interface(language, text);
    let read = meter::take();
    assert!(
        read <= READS_PER_BYTE * (text.len() + 64),
        "{language:?} took {read} steps for {} bytes: {}",
        text.len(),
        String::from_utf8_lossy(&text[..text.len().min(80)])
    );
    if let Ok(interface) = &found {
        let bytes: usize = interface.names.iter().map(|(name, _)| name.len()).sum();
        assert!(interface.names.len() <= MAX_INTERFACE_NAMES && bytes <= MAX_INTERFACE_NAME_BYTES);
        assert!(interface.names.is_sorted());
        assert!(interface.names.iter().all(|(name, _)| !name.contains(char::is_control)));
    }
    found
}

/// Pieces that lead from one state to another, beside those of the import scanners.
fn own_piece() -> impl Strategy<Value = Vec<u8>> {
    let pieces = "export ¦default ¦const a¦class A ¦function f¦interface I ¦type T ¦declare ¦namespace N ¦enum E ¦\
                  module.exports = ¦exports.a = ¦extends ¦= ¦=>¦(a: ¦): ¦<T>¦as const¦as ¦private ¦get ¦async ¦static ¦\
                  @a¦?¦|¦this.a = ¦{ a: 1 }¦[a]¦...¦def f¦class A¦:\n  ¦\n¦\n\t¦__all__ = [¦self.a = ¦lambda a: ¦\
                  if a:\n ¦-> ¦pub ¦fn f¦struct S ¦impl ¦for ¦trait T ¦mod m ¦where ¦-> u8 ¦macro_rules! m ¦#[cfg(test)] ¦\
                  func F¦func (a A) ¦type S struct ¦var V¦const (¦package p\n¦interface ¦{¦}¦(¦)¦[¦]¦<¦>¦,¦;¦:¦=¦`¦${¦'¦\"¦/";
    let pieces = pieces.split('¦').map(|piece| piece.as_bytes().to_vec());
    proptest::sample::select(pieces.collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_have_an_interface_or_a_reason(text in proptest::collection::vec(any::<u8>(), 0..600)) {
        for language in Language::all() {
            let _ = checked(language, &text);
        }
    }

    #[test]
    fn any_mix_of_pieces_is_read_without_panic(
        pieces in proptest::collection::vec(prop_oneof![3 => own_piece(), 1 => piece()], 0..120),
    ) {
        let text = pieces.concat();
        for language in Language::all() {
            prop_assert_eq!(checked(language, &text), interface(language, &text));
        }
    }

    #[test]
    fn any_pieces_are_read_in_linear_time(
        pieces in proptest::collection::vec(prop_oneof![3 => own_piece(), 1 => piece()], 0..12),
        repeat in 1_usize..300,
    ) {
        let text = pieces.concat().repeat(repeat);
        for language in Language::all() {
            let _ = checked(language, &text);
        }
    }
}

/// A text of each language, `@` for names that others depend on, `#` for inner ones.
const SAMPLES: [(Language, &str); 5] = [
    (
        Language::TypeScript,
        "import { A@ } from './x';\nexport const a@ = 1;\nexport function f@(b@: A@, c@ = { d@: 1 }): A@ { # }\n\
         export class C@ extends D@ { e@: A@ = 1; constructor(private g@: A@) { # } h@(i@: 1): void { # } static { # } }\n\
         export default (j@: A@) => { # };\nexport interface K@ { l@: A@ }\nexport type M@ = A@ | 'n@';\nconst o = () => { # };\n",
    ),
    (
        Language::JavaScript,
        "exports.a@ = function (b@, c@) { # };\nmodule.exports.d@ = (e@) => { # };\nfunction f() { # }\n",
    ),
    (
        Language::Python,
        "from .x import a@\nb@ = 1\ndef f@(c@, d@: e@ = 'g@') -> h@:\n    #\n\nclass I@(J@):\n    k@: l@ = 1\n    def m@(self, n@):\n        #\n\
         \x20   def _o(self):\n        #\n",
    ),
    (
        Language::Rust,
        "pub use x::a@;\npub fn f@<B@>(c@: D@) -> E@ { # }\npub struct G@ { pub h@: I@, j: K }\nimpl G@ { pub fn l@(&self) { # } fn m() { # } }\n\
         pub trait N@ { fn o@(&self) { # } }\nfn p() { # }\n",
    ),
    (
        Language::Go,
        "package a@\nfunc B@(c@ D@) E@ { # }\ntype F@ struct {\n\tG@ H@\n\tj int\n}\nfunc (k *F@) L@() { # }\nvar M@ = func(n@ int) { # }\nfunc o() { # }\n",
    ),
];

/// Possible content of a body: of any language here, and in one line.
fn inside() -> impl Strategy<Value = String> {
    let words = prop_oneof![
        "[a-z]{1,6}".prop_map(|name| format!("{name}_()")),
        "[a-z ]{0,6}".prop_map(|text| format!("x('{{ {text} (')")),
        "[0-9]{1,3}".prop_map(|number| format!("y[{number}]")),
        Just("z({})".to_owned()),
    ];
    proptest::collection::vec(words, 1..5).prop_map(|words| words.join("; "))
}

fn written(sample: &str, name: &str, inside: &str) -> String {
    // A character literal of Rust or Go has one character.
    sample.replace('@', name).replace('#', inside)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn bodies_do_not_count(one in inside(), other in inside()) {
        for (language, sample) in SAMPLES {
            let [one, other] = [&one, &other].map(|inside| {
                let quoted = if matches!(language, Language::Rust | Language::Go) { inside.replace('\'', "\"") } else { inside.clone() };
                written(sample, "1", &quoted)
            });
            let read = checked(language, one.as_bytes());
            prop_assert!(read.is_ok(), "{:?} {}", language, one);
            prop_assert_eq!(read, checked(language, other.as_bytes()), "{:?}\n{}\n{}", language, one, other);
        }
    }

    #[test]
    fn every_name_that_others_depend_on_counts(pick in any::<prop::sample::Index>(), name in "[a-z]{1,5}") {
        for (language, sample) in SAMPLES {
            let count = sample.matches('@').count();
            let pick = pick.index(count);
            let mut seen = 0;
            let changed: String = sample
                .chars()
                .map(|character| match character {
                    '@' => {
                        seen += 1;
                        if seen == pick + 1 { name.clone() } else { "1".to_owned() }
                    }
                    other => other.to_string(),
                })
                .collect();
            let (one, other) = (written(sample, "1", "x()"), written(&changed, "1", "x()"));
            let (one_read, other_read) = (checked(language, one.as_bytes()), checked(language, other.as_bytes()));
            prop_assert!(other_read.is_ok(), "{:?} {}", language, other);
            prop_assert_ne!(one_read, other_read, "{:?}\n{}\n{}", language, one, other);
        }
    }

    // rule: languages#interface-local
    #[test]
    fn white_space_and_comments_between_tokens_do_not_count(
        picks in proptest::collection::vec((any::<prop::sample::Index>(), 0_usize..4), 1..12),
    ) {
        for (language, sample) in SAMPLES {
            let text = written(sample, "1", "x()");
            // Between any two tokens that are apart already.
            let places: Vec<usize> = text.match_indices(' ').map(|(at, _)| at).collect();
            let mut spaced = text.clone();
            let mut chosen: Vec<(usize, usize)> = picks.iter().map(|(pick, kind)| (places[pick.index(places.len())], *kind)).collect();
            chosen.sort_unstable();
            for (at, kind) in chosen.into_iter().rev() {
                // The indentation of a line of Python is no white space between tokens.
                let is_indentation = text[..at].lines().last().is_none_or(|line| line.trim().is_empty()) || text[..at].ends_with('\n');
                let added = match (language, kind) {
                    (_, 0) => "  ",
                    (_, 1) => "\t",
                    (Language::Python, 2) => " \\\n",
                    (Language::Python, _) => "   ",
                    (_, 2) => " /* } ' { */ ",
                    (Language::Rust, _) => " // } '\n",
                    (_, _) => " /**/ ",
                };
                if !is_indentation {
                    spaced.insert_str(at, added);
                }
            }
            prop_assert_eq!(
                checked(language, text.as_bytes()),
                checked(language, spaced.as_bytes()),
                "{:?}\n{}\n{}", language, text, spaced
            );
        }
    }
}

#[test]
fn hostile_repetition_is_read_in_linear_time() {
    let units = "{¦(¦[¦`${¦<a>¦<a b={¦<T>(¦a<¦a<b>(¦():a¦(): a extends b ? ¦exports.a = ¦exports.a = (¦\
                 module.exports = {¦class A { b = ¦class extends ¦export class A extends class ¦export { a as b }; ¦\
                 export const a = { b: ¦a => ¦async ¦get ¦export const a = [¦export type A = (¦export type A = B<¦\
                 export namespace A { ¦export function f(a = ¦export const { a: { ¦@a¦@a(¦export @a ¦defineProps(¦\
                 let a = $props() = ¦export const a = b ? c : ¦a | ¦keyof ¦export let a\n¦= a => {¦if a:\n ¦\
                 def f(a=¦class A:\n ¦lambda a: ¦a = ¦f'{¦@a\n¦from .a import ¦__all__ = [¦if a: ¦self.a = ¦a, ¦\
                 pub fn f(¦impl A { ¦pub mod a { ¦mod a { ¦impl<¦#[a] ¦#[¦pub struct A(¦macro_rules! a { ¦pub ¦\
                 pub use a::{¦for ¦func F(¦type A struct { ¦var A = func() {¦const (¦A, ¦import \"a\"\n¦\
                 interface {¦struct {¦func (a) B()\n¦<script>¦<script setup>let a¦---\n¦a\n";
    for unit in units.split('¦') {
        for closer in ["", "}", ")"] {
            let text = unit.repeat(1_500) + &closer.repeat(1_500);
            for language in Language::all() {
                let _ = checked(language, text.as_bytes());
            }
        }
    }
}

#[test]
fn deep_nesting_costs_no_stack() {
    for (open, close) in [
        ("[", "]"),
        ("{ a: ", "}"),
        ("(", ")"),
        ("(a = ", ") => 1"),
        ("class { b = ", "}"),
        ("<a>{", "}</a>"),
        ("`${", "}`"),
        ("f(", ")"),
        ("A<", ">"),
        ("new (class extends ", " {})"),
        ("(a): ", ""),
    ] {
        let nested = open.repeat(4_000) + "1" + &close.repeat(4_000);
        for head in [
            "export const a = ",
            "export type A = ",
            "export default ",
            "module.exports = ",
            "a = ",
            "pub const A: ",
            "package a\nvar A = ",
        ] {
            for language in Language::all() {
                let text = format!("{head}{nested}\n");
                let _ = interface(language, text.as_bytes());
            }
        }
    }
    for (head, close) in [
        ("export namespace A { ", "}"),
        ("pub mod a { ", "}"),
        ("mod a { ", "}"),
        ("class A {", "}"),
    ] {
        let text = head.repeat(4_000) + &close.repeat(4_000);
        for language in Language::all() {
            let _ = interface(language, text.as_bytes());
        }
    }
}

#[test]
fn large_text_is_refused_and_large_output_of_a_minifier_too() {
    for language in Language::all() {
        let lines = "a = 1\n".repeat(MAX_INTERFACE_BYTES / 6 + 1);
        assert_eq!(interface(language, lines.as_bytes()), Err(InterfaceUnknown::TooLarge));
        let one_line = "a;".repeat(5 << 20);
        assert_eq!(
            interface(language, one_line.as_bytes()),
            Err(InterfaceUnknown::Minified)
        );
        assert_eq!(
            interface(language, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0"),
            Err(InterfaceUnknown::Binary)
        );
    }
}

#[test]
fn the_encoding_of_a_text_does_not_count() {
    let text = "export const ä = 1\n";
    let wide: Vec<u8> = std::iter::once('\u{feff}')
        .chain(text.chars())
        .collect::<String>()
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let marked = format!("\u{feff}{text}");
    let expected = interface(Language::TypeScript, text.as_bytes());
    assert_eq!(interface(Language::TypeScript, &wide), expected);
    assert_eq!(interface(Language::TypeScript, marked.as_bytes()), expected);
}
