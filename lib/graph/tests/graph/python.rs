use coord_graph::Reason;

use super::repository::{edges_of, target};

fn import(statement: &str, from: &str, others: &[&str]) -> Result<String, Reason> {
    let mut files = vec![(from, statement)];
    files.extend(others.iter().map(|path| (*path, "")));
    target(&files, from)
}

fn leads_to(statement: &str, from: &str, others: &[&str], expected: &str) {
    assert_eq!(import(statement, from, others), Ok(expected.to_owned()), "{statement}");
}

#[test]
fn a_name_is_a_submodule_before_it_is_an_attribute() {
    let package = ["p/__init__.py", "p/b.py"];
    leads_to("from p import b", "main.py", &package, "p/b.py");
    leads_to("from p import c", "main.py", &package, "p/__init__.py");
    leads_to("from p import *", "main.py", &package, "p/__init__.py");
    leads_to("from p.b import b", "main.py", &package, "p/b.py");
    leads_to("import p.b", "main.py", &package, "p/b.py");
    assert_eq!(import("import p.b.c", "main.py", &package), Err(Reason::External));
}

#[test]
fn relative_levels_go_up_from_the_files_folder() {
    let package = ["p/__init__.py", "p/s/__init__.py", "p/b.py"];
    leads_to("from . import x", "p/s/a.py", &package, "p/s/__init__.py");
    leads_to("from .. import b", "p/s/a.py", &package, "p/b.py");
    leads_to("from ..b import x", "p/s/a.py", &package, "p/b.py");
    assert_eq!(
        import("from ....b import x", "p/s/a.py", &package),
        Err(Reason::OutsideRepository)
    );
    assert_eq!(import("from .no import x", "p/s/a.py", &package), Err(Reason::Missing));
    leads_to("from .b import x", "d/a.py", &["d/b.py"], "d/b.py");
}

#[test]
fn packages_come_before_modules_and_modules_before_stubs_and_those_before_namespaces() {
    leads_to("import m", "a.py", &["m/__init__.py", "m.py", "m.pyi"], "m/__init__.py");
    leads_to("import m", "a.py", &["m.py", "m.pyi", "m/x.py"], "m.py");
    leads_to("import m", "a.py", &["m.pyi"], "m.pyi");
    leads_to("import m.x", "a.py", &["m/x.py"], "m/x.py");
    assert_eq!(import("import m", "a.py", &["m/x.py"]), Err(Reason::Namespace));
    // The module hides the folder.
    assert_eq!(import("import m.x", "a.py", &["m.py", "m/x.py"]), Err(Reason::External));
}

#[test]
fn the_standard_library_is_not_shadowed_by_accident() {
    assert_eq!(
        import("import json", "app/x.py", &["json.py", "src/json.py"]),
        Err(Reason::External)
    );
    assert_eq!(
        import("import typing", "p/x.py", &["p/__init__.py", "p/typing.py"]),
        Err(Reason::External)
    );
    // A script's own folder is where Python looks first.
    leads_to("import json", "app/x.py", &["app/json.py"], "app/json.py");
    assert_eq!(import("import json", "x.py", &["json/data.py"]), Err(Reason::External));
}

// rule: languages#python-own-root
#[test]
fn roots_are_the_own_one_then_enclosing_ones_then_shared_ones() {
    leads_to(
        "import h",
        "tests/t.py",
        &["tests/h.py", "src/h.py", "h.py"],
        "tests/h.py",
    );
    leads_to("import h", "tests/t.py", &["src/h.py", "h.py"], "h.py");
    leads_to("import lib.m", "tests/t.py", &["src/lib/m.py"], "src/lib/m.py");
    leads_to(
        "import pa.m",
        "mono/b/t.py",
        &["mono/a/pa/__init__.py", "mono/a/pa/m.py"],
        "mono/a/pa/m.py",
    );
    // Two packages of one name: no guess.
    let two = ["mono/a/pa/__init__.py", "mono/c/pa/__init__.py"];
    assert_eq!(import("import pa", "mono/b/t.py", &two), Err(Reason::External));
    assert_eq!(
        import("import pa", "other/t.py", &["mono/a/pa/__init__.py"]),
        Err(Reason::External)
    );
}

#[test]
fn a_pyproject_can_name_the_folder_of_its_packages() {
    let files = [
        ("x/pyproject.toml", "[tool.maturin]\npython-source = \"python\"\n"),
        ("x/python/native/m.py", ""),
        ("tests/t.py", "import native.m"),
    ];
    assert_eq!(target(&files, "tests/t.py"), Ok("x/python/native/m.py".to_owned()));
}

#[test]
fn each_name_of_a_statement_has_its_own_edge() {
    let files = [
        ("p/__init__.py", ""),
        ("p/a.py", ""),
        ("p/b.py", ""),
        ("m.py", "from p import (a, b,\n  c)\nimport p.a as x, p.b"),
    ];
    let found = edges_of(&files);
    assert_eq!(found, ["m.py -> p/__init__.py", "m.py -> p/a.py", "m.py -> p/b.py"]);
}

#[test]
fn a_namespace_below_a_source_root_is_no_root() {
    let namespace = [
        "d/src/ns/x/__init__.py",
        "d/src/ns/cohere/__init__.py",
        "d/src/ns/cohere/b.py",
    ];
    for (statement, expected) in [
        ("import cohere", Err(Reason::External)),
        ("from cohere.b import B", Err(Reason::External)),
        ("from ns.cohere.b import B", Ok("d/src/ns/cohere/b.py".to_owned())),
    ] {
        // A module of a package, one of the namespace itself, and a file elsewhere.
        for from in ["d/src/ns/x/a.py", "d/src/ns/m.py", "d/tests/t.py"] {
            let mut files: Vec<(&str, &str)> = namespace.map(|path| (path, "")).to_vec();
            files.extend([(from, statement), ("d/tests/test_x.py", "import ns.x")]);
            assert_eq!(target(&files, from), expected, "{statement} in {from}");
        }
    }
    let declared = [
        ("pyproject.toml", "[tool.maturin]\npython-source = \"python\"\n"),
        ("python/ns/cohere/__init__.py", ""),
        ("python/ns/x/__init__.py", ""),
        ("python/ns/x/a.py", "import cohere"),
        ("tests/t.py", "from ns.x import a"),
    ];
    assert_eq!(target(&declared, "python/ns/x/a.py"), Err(Reason::External));
}

#[test]
fn a_project_or_a_folder_of_scripts_below_a_source_root_is_a_root() {
    let app = ["src/backend/app/__init__.py", "src/backend/app/m.py"];
    let project = [&app[..], &["src/backend/requirements.txt"]].concat();
    leads_to("import app.m", "src/backend/app/a.py", &project, "src/backend/app/m.py");
    leads_to("import app.m", "src/backend/app/a.py", &app, "src/backend/app/m.py");
    leads_to("import h", "src/tool/run.py", &["src/tool/h.py"], "src/tool/h.py");
    let within_package = ["src/p/__init__.py", "src/p/tool/h.py"];
    assert_eq!(
        import("import h", "src/p/tool/run.py", &within_package),
        Err(Reason::External)
    );
}

#[test]
fn modules_that_are_imported_by_their_full_names_are_no_scripts() {
    let folder = [
        ("src/ns/x/logging.py", ""),
        ("src/ns/x/h.py", ""),
        ("src/ns/y/logging.py", ""),
        ("src/ns/y/b.py", "import logging"),
        ("src/ns/x/a.py", "import logging"),
    ];
    let name = ("src/ns/x/c.py", "import h");
    let files = [&folder[..], &[name]].concat();
    assert_eq!(target(&files, "src/ns/x/a.py"), Ok("src/ns/x/logging.py".to_owned()));
    for importer in [
        "from ns.x.a import b",
        "from ns.x import a",
        "import ns.x.a",
        "import ns.x.h as h",
    ] {
        let files = [&files[..], &[("tests/t.py", importer)]].concat();
        assert_eq!(target(&files, "src/ns/x/a.py"), Err(Reason::External), "{importer}");
        assert_eq!(target(&files, "src/ns/x/c.py"), Err(Reason::External), "{importer}");
        assert_eq!(target(&files, "src/ns/y/b.py"), Ok("src/ns/y/logging.py".to_owned()));
    }
    // No module of the folder, and a file of another project.
    for (from, importer) in [("tests/t.py", "import ns.x"), ("tests/t.py", "from x import b")] {
        let files = [&files[..], &[(from, importer)]].concat();
        assert_eq!(
            target(&files, "src/ns/x/a.py"),
            Ok("src/ns/x/logging.py".to_owned()),
            "{importer}"
        );
    }
    let projects = [
        ("one/src/x/queue.py", ""),
        ("one/src/x/a.py", "import queue"),
        ("two/src/x/a.py", ""),
        ("two/tests/t.py", "from x.a import b"),
    ];
    assert_eq!(target(&projects, "one/src/x/a.py"), Ok("one/src/x/queue.py".to_owned()));
}

#[test]
fn a_link_to_a_package_is_that_package() {
    let files = [
        ("vendor/p/__init__.py", ""),
        ("vendor/p/m.py", ""),
        ("app/p", "LINK ../vendor/p"),
        ("app/a.py", "from p.m import x"),
    ];
    assert_eq!(target(&files, "app/a.py"), Ok("vendor/p/m.py".to_owned()));
}
