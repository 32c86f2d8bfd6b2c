#!/usr/bin/env python3
"""Which files of two releases differ in what others can import, by Python's own parser: `declarations.py OLDER NEWER`.

Prints `path<TAB>same|differs|unknown` for each file of both whose text differs; `unknown` where Python cannot parse it.
SHOW=1 prints the declarations of each file that differs.

Names of the top level count, behind conditions and loops too: functions with their decorators, parameters and results,
classes with their parents, public members and what `__init__` sets on `self`, other names with their annotation. A value
counts where it is a type or another name. Imports count that are relative, repeated by `as`, in `__all__`, or in a module
that defines nothing."""

import ast
import os
import pathlib
import sys
import warnings

MAKERS = {"TypeVar", "ParamSpec", "TypeVarTuple", "NewType", "namedtuple", "NamedTuple", "TypedDict", "Enum", "IntEnum"}
MAKERS |= {"TypeAliasType"}
BLOCKS = ("body", "orelse", "finalbody")


def is_public(name):
    return not name.startswith("_") or len(name) > 4 and name.startswith("__") and name.endswith("__")


def text(node):
    return "" if node is None else ast.unparse(node)


def bound(target):
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, (ast.Tuple, ast.List)):
        for one in target.elts:
            yield from bound(one)
    elif isinstance(target, ast.Starred):
        yield from bound(target.value)


def is_type(node):
    if isinstance(node, ast.Constant):
        return node.value is None
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.BitOr) and is_type(node.left) and is_type(node.right)
    if isinstance(node, ast.Subscript):
        return is_type(node.value)
    if isinstance(node, ast.Attribute):
        return is_type(node.value)
    return isinstance(node, ast.Name)


def value(node):
    if isinstance(node, ast.Call):
        maker = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
        return text(node) if maker in MAKERS else ""
    if isinstance(node, ast.Lambda):
        return "lambda " + text(node.args)
    return text(node) if is_type(node) else ""


def set_on_self(initializer):
    found = set()

    def note(target, annotation):
        if isinstance(target, (ast.Tuple, ast.List)):
            for one in target.elts:
                note(one, annotation)
        elif isinstance(target, ast.Attribute) and text(target.value) == "self" and is_public(target.attr):
            found.add(f"self.{target.attr}: {annotation}")

    for node in ast.walk(initializer):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                note(target, "")
        elif isinstance(node, ast.AnnAssign):
            note(node.target, text(node.annotation))
    return sorted(found)


class Declarations:
    def __init__(self):
        self.lines, self.imports, self.listed, self.defines = [], [], set(), False

    def add(self, owner, name, head):
        """`owner` is the list of a class's members, or `None` for the module."""
        if owner is None:
            self.lines.append((name, head))
        elif is_public(name):
            owner.append((name, head))

    def function(self, owner, node):
        self.defines = True
        kind = type(node).__name__
        decorators = [text(one) for one in node.decorator_list]
        parameters = [text(one) for one in getattr(node, "type_params", [])]
        self.add(owner, node.name, (kind, decorators, parameters, text(node.args), text(node.returns)))

    def a_class(self, owner, node):
        self.defines = True
        if owner is not None and not is_public(node.name):
            return
        members = []
        self.attributes = getattr(self, "attributes", [])
        self.attributes.append(set())
        self.statements(members, node.body)
        decorators = [text(one) for one in node.decorator_list]
        parents = [text(one) for one in [*getattr(node, "type_params", []), *node.bases]]
        parents += [f"{one.arg}={text(one.value)}" for one in node.keywords]
        self.add(owner, node.name, ("class", decorators, parents, members, sorted(self.attributes.pop())))

    def an_import(self, node):
        if isinstance(node, ast.Import):
            for one in node.names:
                repeated = one.asname is not None and one.asname == one.name
                self.imports.append((one.asname or one.name.split(".")[0], ("import", one.name), repeated))
            return
        source = "." * node.level + (node.module or "")
        for one in node.names:
            if one.name == "*":
                self.lines.append(("*", source))
            else:
                public = node.level > 0 or one.asname == one.name
                self.imports.append((one.asname or one.name, (source, one.name), public))

    def a_list(self, node):
        self.lines.append(("__all__", text(node)))
        self.listed |= {one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)}

    def assignment(self, owner, node):
        names = [name for target in node.targets for name in bound(target)]
        if owner is None and any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets[:1]):
            return self.a_list(node)
        head = value(node.value)
        if owner is not None and names[:1] in (["__slots__"], ["__match_args__"]):
            head = text(node.value)
        for name in names:
            self.add(owner, name, head)

    def statements(self, owner, nodes):
        for node in nodes:
            self.statement(owner, node)

    def statement(self, owner, node):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self.function(owner, node)
            if owner is not None and node.name == "__init__":
                self.attributes[-1] |= set(set_on_self(node))
        elif isinstance(node, ast.ClassDef):
            self.a_class(owner, node)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            if owner is None:
                self.an_import(node)
        elif isinstance(node, ast.Assign):
            self.assignment(owner, node)
        elif isinstance(node, ast.AnnAssign):
            if owner is None and text(node.target) == "__all__":
                self.a_list(node)
            elif isinstance(node.target, ast.Name):
                has_value = owner is not None and node.value is not None
                self.add(owner, node.target.id, (text(node.annotation), has_value))
        elif isinstance(node, (ast.AugAssign, ast.Expr)) and owner is None:
            target = node.target if isinstance(node, ast.AugAssign) else node.value
            if text(target) == "__all__" or isinstance(target, ast.Call) and text(target.func).startswith("__all__."):
                self.a_list(node)
        elif type(node).__name__ == "TypeAlias":
            self.add(owner, node.name.id, text(node))
        else:
            self.block(owner, node)

    def block(self, owner, node):
        if isinstance(node, (ast.For, ast.AsyncFor)):
            for name in bound(node.target):
                self.add(owner, name, "")
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                for name in bound(item.optional_vars):
                    self.add(owner, name, "")
        for field in BLOCKS:
            self.statements(owner, getattr(node, field, []))
        for inner in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
            self.statements(owner, inner.body)

    def all(self):
        imports = [(name, head) for name, head, public in self.imports if public or name in self.listed or not self.defines]
        # What one name means, in the order written; the order of names does not matter, and what is said twice is said once.
        lines = sorted(self.lines + imports, key=lambda line: line[0])
        return [line for place, line in enumerate(lines) if line not in lines[max(0, place - 1) : place]]


def declarations(source):
    found = Declarations()
    found.statements(None, ast.parse(source).body)
    return found.all()


def main():
    older, newer = (pathlib.Path(folder) for folder in sys.argv[1:3])
    warnings.simplefilter("ignore")
    for file in sorted(newer.rglob("*.py*")):
        before = older / file.relative_to(newer)
        if file.suffix not in (".py", ".pyi") or not before.is_file() or file.read_bytes() == before.read_bytes():
            continue
        name = file.relative_to(newer).as_posix()
        try:
            one, other = declarations(before.read_bytes()), declarations(file.read_bytes())
        except (SyntaxError, ValueError):
            print(f"{name}\tunknown")
            continue
        if os.environ.get("SHOW") and one != other:
            for sign, lines, others in (("-", one, other), ("+", other, one)):
                for line in lines:
                    if line not in others:
                        print(sign, *line)
        print(f"{name}\t{'same' if one == other else 'differs'}")


if __name__ == "__main__":
    main()
