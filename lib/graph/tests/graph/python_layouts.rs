//! Where Python's packages are: source roots, namespaces, and manifests.

use super::repository::targets;

/// [`targets`] of `text` at `from` beside files without text.
fn imported(text: &str, from: &str, others: &[&str]) -> Vec<String> {
    let mut files: Vec<(&str, &str)> = others.iter().map(|path| (*path, "")).collect();
    files.push((from, text));
    targets(&files, from)
}

// rule: languages#python-others
#[test]
fn a_package_elsewhere_below_the_same_top_folder_is_found_if_it_is_the_only_one() {
    let one = ["services/one/code/app/__init__.py", "services/one/code/app/x.py"];
    assert_eq!(imported("import app.x", "services/two/t.py", &one), [one[1]]);
    assert!(
        imported("import app.x", "tools/t.py", &one).is_empty(),
        "another top folder"
    );
    let other = one.map(|path| path.replace("/one/", "/three/"));
    let both = [one[0], one[1], &other[0], &other[1]];
    assert!(
        imported("import app.x", "services/two/t.py", &both).is_empty(),
        "two files"
    );
}

#[test]
fn a_folder_below_a_source_root_that_holds_packages_is_a_root() {
    for root in ["src/python", "src/main/python", "lib/src/py3", "src/backend"] {
        let paths = ["app/__init__.py", "app/b.py", "lib/y.py", "lib/__init__.py"].map(|path| format!("{root}/{path}"));
        let paths = paths.each_ref().map(String::as_str);
        for from in ["app/a.py", "main.py", "scripts/run.py"].map(|path| format!("{root}/{path}")) {
            let found = imported("from app import b\nimport lib.y", &from, &paths);
            assert_eq!(found, [paths[1], paths[2]], "{from}");
        }
        let found = imported("from app import b", "tests/unit/test_b.py", &paths);
        assert_eq!(found, [paths[1]], "{root}");
    }
    // A folder without `__init__` in one of the packages.
    let inside = ["src/python/app/__init__.py", "src/python/app/sub/b.py"];
    assert_eq!(
        imported("from app.sub import b\nimport b", "src/python/app/sub/a.py", &inside),
        [inside[1]]
    );
    // Beside a namespace of the same name.
    let files = [
        "src/python/app/__init__.py",
        "src/python/app/x.py",
        "src/python/lib/__init__.py",
    ];
    let found = imported("from app.x import q\nimport lib", "tests/python/app/test_x.py", &files);
    assert_eq!(found, ["src/python/app/x.py", "src/python/lib/__init__.py"]);
}

#[test]
fn two_roots_with_a_package_of_one_name_are_seen_by_their_own_files_alone() {
    let files = [
        "src/one/app/__init__.py",
        "src/one/app/x.py",
        "src/two/app/__init__.py",
        "src/two/app/x.py",
    ];
    assert_eq!(
        imported("import app.x", "src/two/main.py", &files),
        ["src/two/app/x.py"]
    );
    assert!(imported("import app.x", "tests/t.py", &files).is_empty());
    let apart = files.map(|path| {
        path.replace("src/one", "one/src/back")
            .replace("src/two", "two/src/back")
    });
    let apart = apart.each_ref().map(String::as_str);
    assert_eq!(
        imported("import app.x", "two/tests/t.py", &apart),
        ["two/src/back/app/x.py"]
    );
}

// rule: languages#python-namespaces
#[test]
fn a_folder_whose_packages_are_imported_by_longer_names_is_a_namespace() {
    let namespace = [
        ("src/ns/pkg/__init__.py", ""),
        ("src/ns/pkg/b.py", ""),
        ("src/ns/other/__init__.py", ""),
    ];
    for importer in [
        "import ns.pkg",
        "from ns import pkg",
        "from ns.pkg.b import c",
        "import a, ns.pkg.b as b",
    ] {
        for from in ["src/ns/pkg/c.py", "tests/t.py", "src/main.py"] {
            let files = [
                &namespace[..],
                &[
                    (from, importer),
                    ("src/ns/pkg/a.py", "import pkg\nimport other\nimport ns.pkg.b"),
                ],
            ]
            .concat();
            assert_eq!(
                targets(&files, "src/ns/pkg/a.py"),
                ["src/ns/pkg/b.py"],
                "{importer} in {from}"
            );
        }
    }
    // The name begins at a folder in between.
    let deep = [
        ("src/python/google/cloud/a/__init__.py", ""),
        (
            "src/python/google/cloud/a/x.py",
            "from google.cloud.b import y\nimport b\nimport cloud.b",
        ),
        ("src/python/google/cloud/b/__init__.py", ""),
        ("tests/t.py", "import google.cloud.b"),
    ];
    let b = ["src/python/google/cloud/b/__init__.py"];
    assert_eq!(targets(&deep, "src/python/google/cloud/a/x.py"), b);
    assert_eq!(targets(&deep, "tests/t.py"), b);
    // Modules without packages.
    let modules = [
        ("src/backend/main.py", "import app.db"),
        ("src/backend/app/db.py", ""),
        ("src/backend/app/routes.py", "from app.db import x\nimport db"),
    ];
    assert_eq!(
        targets(&modules, "src/backend/app/routes.py"),
        ["src/backend/app/db.py"]
    );
    // Below a project that has its packages in its own folder.
    let project = [
        (
            "lib/setup.py",
            "setup(packages=find_namespace_packages(include=['kfp.*']))",
        ),
        ("lib/kfp/kubernetes/__init__.py", ""),
        (
            "lib/kfp/kubernetes/a.py",
            "from kubernetes import client\nfrom kfp.kubernetes import common",
        ),
        ("lib/kfp/kubernetes/common.py", ""),
        ("lib/tests/unit/__init__.py", ""),
        ("lib/tests/unit/t.py", "import unit, helpers"),
        ("lib/tests/helpers.py", ""),
    ];
    assert_eq!(
        targets(&project, "lib/kfp/kubernetes/a.py"),
        ["lib/kfp/kubernetes/common.py"]
    );
    let tests = ["lib/tests/helpers.py", "lib/tests/unit/__init__.py"];
    assert_eq!(targets(&project, "lib/tests/unit/t.py"), tests);
    // A package of a namespace that nothing imports yet is of the namespace.
    let nested = [
        &namespace[..],
        &[
            ("src/ns/sub/new/__init__.py", ""),
            ("src/ns/sub/new/a.py", "import new\nimport ns.pkg"),
        ],
    ]
    .concat();
    assert_eq!(targets(&nested, "src/ns/sub/new/a.py"), ["src/ns/pkg/__init__.py"]);
}

#[test]
fn imports_of_another_project_decide_only_unique_names() {
    let files = [
        ("one/src/back/app/__init__.py", ""),
        ("one/src/back/app/a.py", "import app"),
        ("two/src/back/app/__init__.py", ""),
        ("two/src/back/app/a.py", "import back.app"),
    ];
    assert_eq!(
        targets(&files, "one/src/back/app/a.py"),
        ["one/src/back/app/__init__.py"]
    );
    assert_eq!(
        targets(&files, "two/src/back/app/a.py"),
        ["two/src/back/app/__init__.py"]
    );
    let files = [
        ("one/src/ns/app/__init__.py", ""),
        ("one/src/ns/app/a.py", "import app"),
        ("two/t.py", "import ns.app"),
    ];
    assert!(targets(&files, "one/src/ns/app/a.py").is_empty());
    assert_eq!(targets(&files, "two/t.py"), ["one/src/ns/app/__init__.py"]);
}

// rule: languages#python-manifests
#[test]
fn a_tool_names_folders_on_the_path() {
    for (manifest, text) in [
        ("pyproject.toml", "[tool.pytest.ini_options]\npythonpath = [\"code\"]\n"),
        ("pyproject.toml", "[tool.mypy]\nmypy_path = \"code\"\n"),
        ("pyproject.toml", "[tool.pyright]\nextraPaths = [\"code\"]\n"),
        ("pyproject.toml", "[tool.ruff]\nsrc = [\"code\"]\n"),
        ("ruff.toml", "src = [\"c*\"]\n"),
        ("ty.toml", "[environment]\nroot = [\"./code\"]\n"),
        ("pytest.ini", "[pytest]\npythonpath = code\n"),
        ("tox.ini", "[pytest]\npythonpath =\n  code\n"),
        ("setup.cfg", "[tool:pytest]\npythonpath = code\n"),
        ("mypy.ini", "[mypy]\nmypy_path = $MYPY_CONFIG_FILE_DIR/code\n"),
        (
            "pyrightconfig.json",
            "{\"executionEnvironments\": [{\"root\": \"code\"}]}",
        ),
        ("pants.toml", "[source]\nroot_patterns = [\"/code\"]\n"),
        ("pants.toml", "[source]\nmarker_filenames = [\"ROOT\"]\n"),
        (
            "build.py",
            "use_plugin('python.core')\nproject.set_property('dir_source_main_python', 'code')\n",
        ),
        (
            "setup.py",
            "setup(package_dir={'': 'code'}, packages=find_packages('code'))",
        ),
        ("setup.cfg", "[options]\npackage_dir =\n    =code\n"),
    ] {
        let files = [
            (manifest, text),
            ("code/core/__init__.py", ""),
            ("code/util.py", ""),
            ("code/ROOT", ""),
            ("tests/unit/test_a.py", "import core\nimport util"),
        ];
        assert_eq!(
            targets(&files, "tests/unit/test_a.py"),
            ["code/core/__init__.py", "code/util.py"],
            "{manifest}: {text}"
        );
        let without = [files[1], files[2], files[4]];
        assert!(targets(&without, "tests/unit/test_a.py").is_empty());
    }
}

// rule: languages#python-manifests
#[test]
fn pants_and_pybuilder_layouts_have_their_source_roots() {
    let pants = [
        "3rd/src/python/app/x.py",
        "3rd/src/python/app/__init__.py",
        "src/python/ns/y.py",
    ];
    let files = [&pants[..], &["pants.toml"]].concat();
    assert_eq!(
        imported("import app.x, ns.y", "tests/t.py", &files),
        [pants[0], pants[2]]
    );
    let builder = [
        ("build.py", "use_plugin(\"python.core\")"),
        ("src/main/python/app.py", ""),
        ("src/unittest/python/app_tests.py", "import app"),
    ];
    assert_eq!(
        targets(&builder, "src/unittest/python/app_tests.py"),
        ["src/main/python/app.py"]
    );
}

// rule: languages#python-projects
#[test]
fn a_project_with_its_packages_in_its_own_folder_is_known_everywhere() {
    for (manifest, text) in [
        (
            "setup.py",
            "from setuptools import setup, find_packages\nsetup(packages=find_packages(exclude=['tests']))",
        ),
        ("setup.py", "setup(name='core')"),
        ("setup.cfg", "[metadata]\nname = core\n[options]\npackages = find:\n"),
        ("pyproject.toml", "[project]\nname = \"core\"\n"),
        ("pyproject.toml", "[build-system]\nrequires = [\"hatchling\"]\n"),
        ("pyproject.toml", "[tool.poetry]\nname = \"core\"\n"),
        ("pyproject.toml", "[tool.poetry]\npackages = [{ include = \"core\" }]\n"),
        ("pyproject.toml", "[tool.setuptools.packages.find]\nwhere = [\".\"]\n"),
        (
            "pyproject.toml",
            "[tool.hatch.build.targets.wheel]\npackages = [\"core\"]\n",
        ),
        ("pyproject.toml", "[tool.uv.build-backend]\nmodule-root = \"\"\n"),
    ] {
        let manifest = format!("libs/core/{manifest}");
        let files = [
            (manifest.as_str(), text),
            ("libs/core/core/__init__.py", ""),
            ("libs/core/core/db.py", ""),
            ("libs/core/ns/part.py", ""),
            ("libs/core/tests/helpers.py", ""),
            ("libs/core/tests/__init__.py", ""),
            (
                "apps/api/api/__init__.py",
                "from core.db import x\nimport core, ns.part\nimport tests.helpers",
            ),
        ];
        assert_eq!(
            targets(&files, "apps/api/api/__init__.py"),
            [
                "libs/core/core/__init__.py",
                "libs/core/core/db.py",
                "libs/core/ns/part.py"
            ],
            "{text}"
        );
        assert!(targets(&files[1..], "apps/api/api/__init__.py").is_empty());
    }
}

// rule: languages#python-projects
#[test]
fn two_projects_with_a_package_of_one_name_are_seen_by_their_own_files_alone() {
    let files = [
        ("a/setup.py", "setup()"),
        ("a/core/__init__.py", ""),
        ("a/run.py", "import core"),
        ("b/pyproject.toml", "[project]"),
        ("b/core/__init__.py", ""),
        ("b/docs/conf.py", "import core"),
        ("c/t.py", "import core"),
    ];
    assert_eq!(targets(&files, "a/run.py"), ["a/core/__init__.py"]);
    assert_eq!(targets(&files, "b/docs/conf.py"), ["b/core/__init__.py"]);
    assert!(targets(&files, "c/t.py").is_empty());
    // The project that is required is meant.
    for (manifest, text) in [
        (
            "c/pyproject.toml",
            "[project]\nname = \"c\"\ndependencies = [\"B.core>=1\"]\n[tool.uv.sources]\nb-core = { workspace = true }",
        ),
        (
            "c/pyproject.toml",
            "[tool.poetry.dependencies]\nb-core = { path = \"../b\", develop = true }",
        ),
        ("c/setup.cfg", "[options]\ninstall_requires = b_core\n"),
    ] {
        let b = ("b/pyproject.toml", "[project]\nname = \"b-core\"");
        let known = [&files[..3], &[b, (manifest, text)], &files[4..]].concat();
        assert_eq!(targets(&known, "c/t.py"), ["b/core/__init__.py"], "{text}");
        let sources = [
            b,
            (manifest, text),
            ("a/src/core.py", ""),
            ("b/src/core.py", ""),
            ("c/t.py", "import core"),
        ];
        assert_eq!(targets(&sources, "c/t.py"), ["b/src/core.py"], "{text}");
    }
    // Of folders on the path, that of the own project comes first.
    let sources = ["a/src/core.py", "b/src/core.py", "src/core.py"];
    assert_eq!(imported("import core", "b/tests/t.py", &sources), ["b/src/core.py"]);
    assert_eq!(imported("import core", "tests/t.py", &sources), ["src/core.py"]);
}

// rule: languages#python-roots
#[test]
fn a_manifest_can_name_the_folder_of_a_package() {
    for (manifest, text) in [
        (
            "x/pyproject.toml",
            "[tool.setuptools.package-dir]\n\"top.mine\" = \"code\"\n",
        ),
        (
            "x/pyproject.toml",
            "[tool.scikit-build.wheel.packages]\n\"top/mine\" = \"code\"\n",
        ),
        (
            "x/pyproject.toml",
            "[tool.hatch.build.targets.wheel.sources]\ncode = \"top/mine\"\n",
        ),
        ("x/setup.py", "setup(package_dir={'top.mine': 'code'})"),
        ("x/setup.cfg", "[options]\npackage_dir =\n  top.mine = code\n"),
        (
            "pyproject.toml",
            "[tool.hatch.build.targets.wheel.force-include]\n\"x/code\" = \"top/mine\"\n",
        ),
    ] {
        let files = [
            (manifest, text),
            ("x/code/__init__.py", ""),
            ("x/code/a.py", "from top.mine import b"),
            ("x/code/b.py", ""),
            ("t.py", "import top.mine\nfrom top.mine.a import A"),
        ];
        assert_eq!(targets(&files, "t.py"), ["x/code/__init__.py", "x/code/a.py"], "{text}");
        assert_eq!(targets(&files, "x/code/a.py"), ["x/code/b.py"], "{text}");
    }
}

#[test]
fn a_namespace_has_parts_in_several_roots() {
    let project = |name: &str| format!("[project]\nname = \"{name}\"\n");
    let (core, more) = (project("core"), project("more"));
    let parts = [
        ("p/core/pyproject.toml", core.as_str()),
        ("p/core/src/ns/core/__init__.py", ""),
        ("p/core/src/ns/core/cfg.py", ""),
        ("p/core/src/ns/deep/one.py", ""),
        ("p/more/pyproject.toml", more.as_str()),
        ("p/more/src/ns/more/__init__.py", ""),
        ("p/more/src/ns/deep/two.py", ""),
    ];
    for (text, expected) in [
        ("import ns.core", "p/core/src/ns/core/__init__.py"),
        ("from ns import core", "p/core/src/ns/core/__init__.py"),
        ("from ns.core import cfg", "p/core/src/ns/core/cfg.py"),
        ("from ns.core.cfg import x", "p/core/src/ns/core/cfg.py"),
        ("from ns.deep import one", "p/core/src/ns/deep/one.py"),
        ("from .. import core", "p/core/src/ns/core/__init__.py"),
        ("from ..core import cfg", "p/core/src/ns/core/cfg.py"),
        ("from ..core.cfg import x", "p/core/src/ns/core/cfg.py"),
        ("from ..deep import one", "p/core/src/ns/deep/one.py"),
        ("from ..deep import two", "p/more/src/ns/deep/two.py"),
    ] {
        let user = ("p/more/src/ns/more/a.py", text);
        // An import by the full name makes the folder a namespace.
        let files = [
            &parts[..],
            &[user, ("p/more/tests/t.py", "import ns.more, ns.deep.two")],
        ]
        .concat();
        assert_eq!(targets(&files, user.0), [expected], "{text}");
    }
    for text in [
        "from ... import core",
        "from ns import nothing",
        "from ..deep import nothing",
    ] {
        let files = [&parts[..], &[("p/more/src/ns/more/a.py", text)]].concat();
        assert!(targets(&files, "p/more/src/ns/more/a.py").is_empty(), "{text}");
    }
}

#[test]
fn a_package_that_extends_its_path_has_parts_in_several_roots() {
    let old = "__import__('pkg_resources').declare_namespace(__name__)";
    for init in [
        old,
        "from pkgutil import extend_path\n__path__ = extend_path(__path__, __name__)",
    ] {
        for (text, expected) in [
            ("from ns import core", "a/src/ns/core.py"),
            ("import ns.core", "a/src/ns/core.py"),
            ("from . import core", "a/src/ns/core.py"),
            ("from .core import x", "a/src/ns/core.py"),
            ("from ns import other", "b/src/ns/__init__.py"),
        ] {
            let files = [
                ("a/src/ns/__init__.py", init),
                ("a/src/ns/core.py", ""),
                ("b/src/ns/__init__.py", init),
                ("b/src/ns/m.py", text),
            ];
            assert_eq!(targets(&files, "b/src/ns/m.py"), [expected], "{text}");
        }
        let plain = [
            ("a/src/ns/__init__.py", ""),
            ("a/src/ns/core.py", ""),
            ("b/src/ns/__init__.py", ""),
            ("b/src/ns/m.py", "from ns import core"),
        ];
        assert_eq!(targets(&plain, "b/src/ns/m.py"), ["b/src/ns/__init__.py"]);
    }
}

// rule: languages#python-own-root
#[test]
fn a_folder_with_a_conftest_is_a_root_for_the_files_below_it() {
    let files = ["tests/conftest.py", "tests/helpers.py"];
    assert_eq!(
        imported("import helpers", "tests/unit/api/test_a.py", &files),
        ["tests/helpers.py"]
    );
    assert!(imported("import helpers", "tests/unit/test_a.py", &files[1..]).is_empty());
    assert!(imported("import helpers", "tools/t.py", &files).is_empty());
}

#[test]
fn a_file_sees_the_folder_where_its_own_name_begins() {
    let files = ["backend/app/db.py", "backend/main.py"];
    assert_eq!(
        imported("from app.db import x", "backend/app/routes.py", &files),
        ["backend/app/db.py"]
    );
    assert!(imported("from app.db import x", "other/app/routes.py", &files).is_empty());
}
