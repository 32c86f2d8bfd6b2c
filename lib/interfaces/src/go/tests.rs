use coord_scan::Language::Go;

use crate::table::{assert_different, assert_names, assert_not_understood, assert_same};

#[test]
fn the_names_are_capitalized() {
    assert_names(
        Go,
        r#"
        package a\nfunc B() {}\nfunc c() {}\n → B, package
        package a\ntype B struct{}\nfunc (b *B) C() {}\nfunc (b B) d() {}\ntype e int\nfunc (e) F() {}\n → B, B.C, package
        package a\nconst (\n\tB = iota\n\tC\n\td\n)\nvar E, f = 1, 2\nvar G int\n → B, C, E, G, package
        package a\ntype (\n\tB = int\n\tC[T any] struct {\n\t\tD T\n\t}\n\te string\n)\n → B, C, package
        package a\nfunc New() *client { return nil }\ntype client struct { A int }\nfunc (c *client) Get() {}\n → New, client, package
        package a\nimport "x/y"\nimport z "x/w/v2"\nimport "u/v2"\nfunc B(y.T, z.T, u.T) {}\n → B, package, u, y, z
        package a\nfunc B() interface{} { return 1 }\nfunc C() struct{ d int } { return x }\nfunc E()\nfunc F() {}\n → B, C, E, F, package
        package a\nvar b = `\nfunc C() {}\n` + "}" + string('}')\nfunc Ä() {}\nfunc ä() {}\n → package, Ä
        package a; func B() {}; func C() {} → B, C, package
        "#,
    );
}

// rule: languages#interface-go
#[test]
fn inner_code_is_no_part_of_the_interface() {
    assert_same(
        Go,
        r#"
        package a\nfunc B(c int) int { return c }\n
        package a\n// Doc.\nfunc B(c int) int {\n\tif c > 0 {\n\t\treturn '}'\n\t}\n\treturn 1 /* } */\n}\n

        package a\ntype B struct {\n\tC int\n\td int\n}\n
        package a\ntype B struct {\n\t// Doc.\n\tC   int\n\te, f string\n}\n
        package a\ntype B struct { C int; d []int }\n

        package a\nvar B = []int{1, 2}\n
        package a\nvar B = []int{3}\n
        package a\nvar B = []int{\n\t3,\n}\n

        package a\nvar B = func(c int) bool { return true }\n
        package a\nvar B = func(c int) bool { return c > 1 }\n

        package a\nconst B = 1\n
        package a\nconst B = 2\n
        package a\nconst (\n\tB = 2\n\tc = 3\n)\n

        package a\nfunc B(\n\tc int,\n) {}\n
        package a\nfunc B(c int) {}\n

        package a\nfunc B() {}\nfunc C() {}\n
        package a\nfunc C() {}\n\nfunc B() {}\nfunc d() {}\n

        package a\nimport "x"\nfunc B() {}\n
        package a\nimport (\n\t"x"\n\t"y"\n)\nfunc B() {}\n
        "#,
    );
}

// rule: languages#interface-go
#[test]
fn parts_that_others_depend_on_change_the_interface() {
    assert_different(
        Go,
        r#"
        package a\nfunc B() {}\n
        package b\nfunc B() {}\n
        package a\nfunc C() {}\n
        package a\nfunc B(c int) {}\n
        package a\nfunc B(c ...int) {}\n
        package a\nfunc B() int {}\n
        package a\nfunc B() (int, error) {}\n
        package a\nfunc B[T any]() {}\n
        package a\nvar B func()\n

        package a\ntype B struct{}\n
        package a\ntype B struct { C int }\n
        package a\ntype B struct { C string }\n
        package a\ntype B struct { C int `json:"c"` }\n
        package a\ntype B struct { C }\n
        package a\ntype B struct { c }\n
        package a\ntype B struct { *c.D }\n
        package a\ntype B struct { c[D] }\n
        package a\ntype B interface{}\n
        package a\ntype B interface { C() }\n
        package a\ntype B interface { d() }\n
        package a\ntype B int\n
        package a\ntype B = int\n
        package a\ntype B struct{}\nfunc (b B) C() {}\n
        package a\ntype B struct{}\nfunc (b *B) C() {}\n
        package a\ntype B struct{}\nfunc (b *B) C(d int) {}\n

        package a\nconst B = 1\n
        package a\nconst B = 1.5\n
        package a\nconst B = "c"\n
        package a\nconst B = 'c'\n
        package a\nconst B int = 1\n
        package a\nvar B = 1\n

        package a\nfunc B() *c { }\ntype c struct { D int }\n
        package a\nfunc B() *c { }\ntype c struct { E int }\n
        package a\nfunc B() *c { }\ntype c struct { D int }\nfunc (c) F() {}\n

        package a\nimport "x/y"\nfunc B(y.C) {}\n
        package a\nimport "z/y"\nfunc B(y.C) {}\n

        package a\nconst (\n\tB = "x"\n\tC\n)\n
        package a\nconst (\n\tB = "x"\n\tC = 1\n)\n

        package a\nvar B = func(c int) bool { return true }\n
        package a\nvar B = func(c string) bool { return true }\n
        "#,
    );
}

#[test]
fn text_that_is_not_valid_has_no_known_interface() {
    assert_not_understood(
        Go,
        r#"
        package a\nfunc B() {
        package a\n}
        package a\nvar b = `
        package a\nvar b = "c\n
        package a\n/*
        "#,
    );
}
