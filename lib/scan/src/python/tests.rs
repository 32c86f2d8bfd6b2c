use crate::import_kind::ImportKind;
use crate::language::Language;
use crate::scan;

/// The imports of a file: `module` for `import module`, `module:name` for a name from it, `!module` for a call.
fn imports(text: &str) -> Vec<String> {
    let show = |found: crate::Specifier| match (found.kind, found.name) {
        (ImportKind::Dynamic, _) => format!("!{}", found.text),
        (_, Some(name)) => format!("{}:{name}", found.text),
        (_, None) => found.text,
    };
    scan(Language::Python, text.as_bytes()).into_iter().map(show).collect()
}

fn check(rows: &[(&str, &[&str])]) {
    for (text, expected) in rows {
        assert_eq!(imports(text), *expected, "{text}");
    }
}

#[test]
fn every_form_of_import_statement_is_found() {
    check(&[
        ("import a", &["a"]),
        ("import a.b.c as d, e as f, g", &["a.b.c", "e", "g"]),
        ("import a . b , c", &["a.b", "c"]),
        ("import\ta\x0c", &["a"]),
        ("import a\\\n .b, \\\r\n c", &["a.b", "c"]),
        ("from a import b", &["a:b"]),
        ("from a.b import c as d, e", &["a.b:c", "a.b:e"]),
        ("from a import *", &["a:*"]),
        ("from a import(b)", &["a:b"]),
        ("from a import (b, # x, y\n  c as d,\n\n  e,\n)", &["a:b", "a:c", "a:e"]),
        ("from a import (\\\n b)", &["a:b"]),
        ("from . import a", &[".:a"]),
        ("from .. import a, b", &["..:a", "..:b"]),
        ("from .a import b", &[".a:b"]),
        ("from ... a . b import c", &["...a.b:c"]),
        ("from.import a", &[".:a"]),
        ("from .a import *", &[".a:*"]),
        ("from \\\n a \\\n import \\\n b", &["a:b"]),
        ("import ünï.cödé", &["ünï.cödé"]),
        ("if a: import b; import c", &["b", "c"]),
        ("try:\n  import a\nexcept E: from b import c\nelse: pass", &["a", "b:c"]),
        ("def f():\n\timport a\r\n\treturn", &["a"]),
        ("if TYPE_CHECKING:\r\n  from a import b\r\n", &["a:b"]),
        ("\u{feff}import a", &["a"]),
        ("x = [1, 2,\nimport a", &["a"]),
    ]);
}

#[test]
fn a_lookalike_of_an_import_is_none() {
    check(&[
        ("# import a", &[]),
        ("x = 'import a'; y = \"from a import b\"", &[]),
        ("'''\nimport a\n'''\n\"\"\"\nimport a\n>>> import b\n\"\"\"", &[]),
        ("def f():\n  '''Doc.\n\n  >>> from a import b\n  '''", &[]),
        ("r'''\\''' import a '''; R\"\\\" import a\"", &[]),
        ("b'import a'; Rb'''import a'''; u'import a'", &[]),
        ("f'import {a} import b'", &[]),
        ("yield from a\nraise b from c", &[]),
        ("imported = a.important; importx('a'); from_a = 1", &[]),
        ("from a import\nb", &[]),
        ("import\na", &[]),
        ("from a", &[]),
        ("import 1", &[]),
        ("x = '''unclosed\nimport a", &[]),
    ]);
}

#[test]
fn code_behind_strings_is_still_read() {
    check(&[
        ("'''it's \\''' '''; import a", &["a"]),
        ("x = ''; y = \"\"\"\"\"\"; import a", &["a"]),
        ("x = '\\\\'; import a", &["a"]),
        ("x = 'a\\\nb'; import a", &["a"]),
        ("x = 'broken\nimport a", &["a"]),
        ("x = f'broken {\nimport a", &["a"]),
        ("x = r'\\'; import b'\nimport a", &["a"]),
        ("f\"{1!r:>{2}} {chr(34)} '''\"; import a", &["a"]),
        ("f'{x:\">10}' '\"'; import a", &["a"]),
        ("f'{{' ; import a", &["a"]),
        ("f'{{{x}}}' ; import a", &["a"]),
        ("f'{x[\"a\"]}{ {1: 2}[1] }'; import a", &["a"]),
        ("f'{x['a']:{y['b']}}'; import a", &["a"]),
        ("f'{f'{f'{1}'}'}'; import a", &["a"]),
        ("f'''{\nx # it's\n}'''; import a", &["a"]),
        ("f'\\N{LEFT SQUARE BRACKET}\\{x}' ; import a", &["a"]),
        ("rf'{x}\\'{y}' ; import a", &["a"]),
        ("t'{x!r}' ; import a", &["a"]),
        ("f'{x:%H:%M}' ; import a", &["a"]),
        ("f'{(lambda: 1)()}{a[1:2]}' ; import a", &["a"]),
        ("f'{x != y}' ; import a", &["a"]),
        ("f'{x' ; import a", &[]),
        ("f'{x:' ; import a", &["a"]),
        ("f'{__import__(\"b\")}'; import a", &["!b", "a"]),
    ]);
}

#[test]
fn calls_with_a_literal_name_are_found() {
    check(&[
        ("importlib.import_module('a.b')", &["!a.b"]),
        ("import_module(\n  'a', # x\n)", &["!a"]),
        ("__import__('a', globals())", &["!a"]),
        ("x = __import__(u\"\"\"a\"\"\")", &["!a"]),
        ("import_module('.a', 'b.c')", &["!b.c.a"]),
        ("import_module('..a', package='b.c')", &["!b.a"]),
        ("import_module('...a', 'b.c')", &[]),
        ("import_module('.a', __package__)", &["!.a"]),
        ("import_module('.a', package=__name__)", &["!.a"]),
        ("import_module('.a', package)", &[]),
        ("import_module('.a')", &[]),
        ("import_module(name='a.b')", &["!a.b"]),
        ("import_module( name = 'a', )", &["!a"]),
        ("import_module(name='.a', package='b.c')", &["!b.c.a"]),
        ("import_module(package=__package__, name='.a')", &["!.a"]),
        ("import_module(package=x, name='a')", &[]),
        ("import_module(name=x)", &[]),
        ("import_module(name=='a')", &[]),
        ("import_module(other='a')", &[]),
        ("__import__(name='a', level=0)", &["!a"]),
        ("import_module(name='a' + b)", &[]),
        ("import_module(a)", &[]),
        ("import_module('a' + b)", &[]),
        ("import_module('a' 'b')", &[]),
        ("import_module(f'a')", &[]),
        ("import_module(b'a')", &[]),
        ("import_module('a/b')", &[]),
        ("import_module('a..b')", &[]),
        ("import_module('')", &[]),
        ("my_import_module('a')", &[]),
        ("def import_module(name): pass", &[]),
        ("import_module('a", &[]),
    ]);
}

#[test]
fn the_line_is_that_of_the_statement() {
    let text = "'''\n\n'''\nfrom a import (\n  b,\n  c)\nimport \\\n d\n";
    let lines: Vec<_> = scan(Language::Python, text.as_bytes())
        .into_iter()
        .map(|found| found.line)
        .collect();
    assert_eq!(lines, [4, 4, 7]);
}

#[test]
fn a_name_that_is_not_utf8_is_left_out() {
    let found = scan(Language::Python, b"import \xff\nfrom a import \xc3, b\nimport c");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].text, "c");
}
