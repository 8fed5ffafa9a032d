#!/usr/bin/env python3
"""Lists circles of imports between the modules of a crate.

    tools/import_circles.py                          # in every crate: circles between files, and between modules directly below it
    tools/import_circles.py crates/sim               # in one crate
    tools/import_circles.py crates/sim --depth 1     # circles between the modules directly below the crate alone

A module imports another when it names something of it by `use` or by a path from `crate`, `self` or
`super`. Names that a module re-exports count for the module that defines them, so that `contact::Pair`,
defined in `contact/pairs.rs`, is an import of `contact::pairs`. A parent and its child may import each other;
modules of tests are left out. With `--depth`, everything below a module of that depth counts as that module.
Calls of methods are not seen: a module that calls a method of another one imports it only where it names its type.

Exit code 0: no circle; 1: there are some, each printed with the lines that close it.
Only Python's standard library is used.
"""
import argparse, collections, pathlib, re, sys

from rust_source import blank, without_tests

ITEM = re.compile(r"\b(?:struct|enum|union|fn|trait|type|const|static|macro_rules!)\s+(?:mut\s+)?(\w+)")
TEST = re.compile(r"#\[cfg\(test\)\]\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;")
USE = re.compile(r"\buse\s+([^;]+);")
PATH = re.compile(r"(?<![\w:])((?:crate|self|super)(?:\s*::\s*\w+)+)")


class Module:
    """A file: what it defines, and what it imports as (line, path, name here)."""

    def __init__(self, name, path):
        self.name, self.path, self.items, self.imports, self.globs = name, path, set(), [], []
        text = without_tests(blank(path.read_text()))
        self.items = set(ITEM.findall(text))
        self.tests = TEST.findall(text)
        line = lambda at: text.count("\n", 0, at) + 1
        spans = []
        for match in USE.finditer(text):
            spans.append(match.span())
            for path_, alias in tree(match[1]):
                self.imports.append((line(match.start()), path_, alias))
        for match in PATH.finditer(text):
            if not any(a <= match.start() < b for a, b in spans):
                self.imports.append((line(match.start()), tuple(re.split(r"\s*::\s*", match[1])), None))


def tree(text):
    """Paths of a `use` declaration with the names that they get: `a::{b, c as d}` is (a, b) b, (a, c) d."""
    text = text.strip().removeprefix("::")
    if "{" in text:
        head, inner = text[:text.index("{")], text[text.index("{") + 1:text.rindex("}")]
        prefix = tuple(s.strip() for s in head.split("::") if s.strip())
        parts, depth, part = [], 0, ""
        for char in inner + ",":
            depth += (char == "{") - (char == "}")
            if char == "," and depth == 0:
                parts.append(part)
                part = ""
            else:
                part += char
        for part in filter(str.strip, parts):
            for path, alias in tree(part):
                if path == ("self",):
                    yield prefix, alias if alias != "self" else prefix[-1]
                else:
                    yield prefix + path, alias
        return
    path, _, alias = (s.strip() for s in text.partition(" as "))
    path = tuple(s.strip() for s in path.split("::"))
    yield path, alias or path[-1]


class Crate:
    def __init__(self, folder):
        self.modules = {}
        source = folder / "src"
        for path in sorted(source.rglob("*.rs")):
            name = path.relative_to(source).with_suffix("").parts
            if name[-1] in ("mod", "lib", "main"):
                name = name[:-1]
            if name[:1] != ("bin",):
                self.modules[name] = Module(name, path)
        for name in [n for n in self.modules if any(n[:k] in self.tests() for k in range(1, len(n) + 1))]:
            del self.modules[name]

    def tests(self):
        """The modules that files of their own hold and that are compiled for tests alone."""
        return {name + (test,) for name, module in self.modules.items() for test in module.tests}

    def absolute(self, module, path):
        """A path from the crate's root, or None where it leaves the crate."""
        at = module.name
        if path[0] == "crate":
            at, path = (), path[1:]
        elif path[0] in ("self", "super"):
            while path and path[0] in ("self", "super"):
                at, path = (at[:-1] if path[0] == "super" else at), path[1:]
        elif at + path[:1] not in self.modules:
            return None
        return at, path

    def resolve(self, at, path, seen=()):
        """The module that defines what a path from the module `at` names."""
        while path and at + path[:1] in self.modules:
            at, path = at + path[:1], path[1:]
        module = self.modules.get(at)
        if not path or module is None or path[0] in module.items or (at, path) in seen:
            return at
        seen += ((at, path),)
        globs = []
        for _, target, alias in module.imports:
            found = self.absolute(module, target)
            if found is None:
                continue
            if alias == path[0]:
                return self.resolve(found[0], found[1] + path[1:], seen)
            if alias == "*":
                globs.append((found[0], found[1][:-1]))
        for start, target in globs:
            inner = self.resolve(start, target, seen)
            if inner != at and path[0] in self.modules[inner].items:
                return inner
        return at

    def edges(self, depth):
        """For each module those that it imports, each with the first line that does."""
        found = collections.defaultdict(dict)
        for module in self.modules.values():
            for line, path, _ in module.imports:
                start = self.absolute(module, path)
                if start is None:
                    continue
                target = self.resolve(start[0], tuple(s for s in start[1] if s != "*"))
                a, b = module.name[:depth], target[:depth]
                related = a == b[:len(a)] or b == a[:len(b)]
                if not related:
                    found[a].setdefault(b, f"{module.path}:{line}: {'::'.join(path)}")
        return found


def components(edges):
    """Strongly connected components of more than one module, by the algorithm of Tarjan (1972)."""
    index, low, stack, found = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in edges.get(v, ()):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            component = []
            while not component or component[-1] != v:
                component.append(stack.pop())
            if len(component) > 1:
                found.append(sorted(component))

    sys.setrecursionlimit(10_000)
    for v in sorted(edges):
        if v not in index:
            visit(v)
    return found


def shortest(edges, component, start):
    """A shortest circle through `start` within a component."""
    came, queue = {start: None}, collections.deque([start])
    while queue:
        v = queue.popleft()
        for w in sorted(set(edges[v]) & set(component)):
            if w == start:
                circle = [v]
                while came[circle[-1]] is not None:
                    circle.append(came[circle[-1]])
                return circle[::-1]
            if w not in came:
                came[w] = v
                queue.append(w)
    return []


def report(folder, edges):
    """Prints the circles among imports. Whether there are any."""
    found = components(edges)
    name = lambda m: "::".join(m) or "crate"
    for component in found:
        print(f"{folder}: {len(component)} modules import each other in circles: {', '.join(map(name, component))}")
        shown = set()
        for start in component:
            circle = shortest(edges, component, start)
            key = frozenset(circle)
            if key in shown:
                continue
            shown.add(key)
            print(f"  {' → '.join(map(name, circle + circle[:1]))}")
            for a, b in zip(circle, circle[1:] + circle[:1]):
                print(f"    {edges[a][b]}")
    return bool(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("crates", nargs="*", type=pathlib.Path, help="folders of crates; by default all of the repository")
    parser.add_argument("--depth", type=int, help="join what lies deeper; by default files are looked at, and depth 1")
    args = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    manifests = [*root.glob("crates/*/Cargo.toml"), *(root / name / "Cargo.toml" for name in ("gpu", "python"))]
    folders = args.crates or sorted(manifest.parent for manifest in manifests)
    code = 0
    for folder in folders:
        crate = Crate(folder)
        if not crate.modules:
            print(f"{folder}: no src/*.rs", file=sys.stderr)
            return 2
        found = [report(folder, crate.edges(depth)) for depth in ([args.depth] if args.depth else [None, 1])]
        if any(found):
            code = 1
        else:
            print(f"{folder}: {len(crate.modules)} modules, no circle")
    return code


if __name__ == "__main__":
    sys.exit(main())
