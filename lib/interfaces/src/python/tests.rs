use coord_scan::Language::Python;

use crate::table::{assert_different, assert_names, assert_not_understood, assert_same};

#[test]
fn the_names_are_those_of_the_top_level() {
    assert_names(
        Python,
        r#"
        def f(): pass\nasync def g(): pass\nclass C: pass\na = 1\nb: int\n → C, a, b, f, g
        a = b = 1; c, (d, *e) = x\n[g, h] = y\n → a, b, c, d, e, g, h
        a.b = 1\na[0] = 1\nf(x=1)\na += 1\n →
        if x:\n    a = 1\nelse:\n    def a(): pass\ntry:\n    b = 1\nexcept E:\n    c = 1\nfinally:\n    d = 1\n → a, b, c, d
        for a, b in c:\n    d = 1\nwith open() as e, f() as (g):\n    h = 1\n → a, b, d, e, g, h
        if x: a = 1; b = 2\nclass C: d = 1\n → C, a, b
        def f():\n    a = 1\n    def g(): pass\n → f
        from .a import b, c as d\nfrom . import (e,\n  f)\nfrom .g import *\ndef h(): pass\n → * from .g, b, d, e, f, h
        import os\nfrom a import b\nfrom a import c as c\ndef h(): pass\n → c, h
        import os.path\nimport a.b as c\nfrom a import b\n → b, c, os
        from a import b, c\n__all__ = ['b']\ndef h(): pass\n → __all__, b, h
        __all__ = []\n__all__ += ['x']\n__all__.extend(a.__all__)\n → __all__
        type A[T] = list[T]\ntype = 1\nmatch = 2\nmatch x:\n    case 1:\n        b = 1\n → A, b, match, type
        a = '''\nb = 1\n'''\nc = f'{x!r:{y}} {"d = 1"}'\n# e = 1\n → a, c
        x = [\n  a = 1\n]\n → x
        class A:\n    pass\n\n\tb = 1\n → A
        a \\n  = 1\n → a
        "#,
    );
}

// rule: languages#interface-python
#[test]
fn a_body_is_no_part_of_the_interface() {
    assert_same(
        Python,
        r"
        def f(a):\n    pass\n
        def f(a): return 1\n
        def f(a):\n    '''doc'''\n    b = {\n1: 2}\n    return b\n
        def f(a): # c\n  if a:\n\n    x\n  else: y\n

        class A:\n    def b(self): pass\n
        class A:\n    '''doc'''\n\n    def b(self):\n        self.c = 1\n        return 2\n

        class A:\n    def _b(self): pass\n
        class A:\n    def _c(self): pass\n
        class A: pass\n
        class A():\n    pass\n

        a = 1\n
        a = 2\n
        a = f(x)\n
        a = [\n  1,\n  2,\n]\n

        class A:\n    def __init__(self):\n        self.a = 1\n        self.b = 2\n
        class A:\n    def __init__(self):\n        self.b = f()\n        if x:\n            self.a, self._c = y\n

        import os\ndef f(): pass\n
        import re\nfrom a import b\ndef f(): pass\n

        class A:\n    a = 1\n
        class A:\n    a = 2\n
        ",
    );
}

#[test]
fn a_formatter_changes_no_interface() {
    assert_same(
        Python,
        r#"
        def f(a, b='x'): pass\n
        def f(\n    a,\n    b="x",\n):\n    pass\n
        def f( a,b = 'x' ) : pass
        def f(a, b='x'): pass\r\n

        class A(B, metaclass=C):\n    x: int = 1\n
        class A(\n  B,\n  metaclass=C,\n):\n\tx : int=2\n

        a = 1\nb = 2\n
        b = 2\na = 1\n

        from .a import (b, c)\n
        from .a import b\nfrom .a import c\n
        "#,
    );
}

// rule: languages#interface-python
#[test]
fn parts_that_others_depend_on_change_the_interface() {
    assert_different(
        Python,
        r"
        def f(): pass\n
        def g(): pass\n
        async def f(): pass\n
        def f(a): pass\n
        def f(*, a): pass\n
        def f(a=1): pass\n
        def f(a=2): pass\n
        def f(a: int): pass\n
        def f() -> int: pass\n
        @a\ndef f(): pass\n
        def f[T](): pass\n
        class f: pass\n
        f = 1\n
        f: int = 1\n
        f = g\n
        f = lambda: 1\n
        f = lambda a: 1\n

        class A: pass\n
        class A(B): pass\n
        class A:\n    a = 1\n
        class A:\n    a: int\n
        class A:\n    a: int = 1\n
        class A:\n    def a(self): pass\n
        class A:\n    def a(self, b): pass\n
        class A:\n    @property\n    def a(self): pass\n
        class A:\n    def __init__(self):\n        self.a = 1\n
        class A:\n    def __init__(self):\n        self.a: int = 1\n
        class A:\n    def __call__(self): pass\n
        class A:\n    __slots__ = ['a']\n
        class A:\n    __slots__ = ['b']\n
        class A:\n    class B: pass\n
        class A:\n    class B:\n        def c(self): pass\n
        class A:\n    if x:\n        b = 1\n
        @a\nclass A: pass\n

        __all__ = ['a']\n
        __all__ = ['b']\n
        __all__ = ['a', 'b']\n

        from .a import b\n
        from .c import b\n
        from .a import c as b\n
        from ..a import b\n

        T = TypeVar('T')\n
        T = TypeVar('T', bound=int)\n
        T = int | str\n
        T = list[int]\n

        @overload\ndef f(a: int): ...\ndef f(a): pass\n
        @overload\ndef f(a: str): ...\ndef f(a): pass\n
        ",
    );
}

#[test]
fn text_that_is_not_valid_has_no_known_interface() {
    assert_not_understood(
        Python,
        r"
        a = (\n
        a = ]\n
        def f(a: pass\n
        a = (]\n
        ",
    );
}
