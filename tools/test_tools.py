#!/usr/bin/env python3
"""Tests of the scripts beside this one that judge code and builds, and of what they share: `tools/test_tools.py [BINARY]`.

With a binary of Standoff, runs and the comparison of builds are tested, too: a build equals itself, and differs from
itself with another setting. Frames are read where numpy and the Python package of Standoff are installed. Otherwise only Python's standard library
is used.
"""
import argparse, contextlib, importlib.util, io, itertools, json, math, pathlib, signal, struct, subprocess, sys, tempfile, unittest, zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import gallery
import papers
from rust_source import blank, without_tests
from standoff_tools import ROOT, at_size, data, frames, made_scenes, meshes, scenes, stats, tables
from standoff_tools.run import file_name, measure, printed_by, run_scene, scene_command

BINARY = None


def run(script, *arguments):
    return subprocess.run([sys.executable, HERE / script, *map(str, arguments)], capture_output=True, text=True)


def crate(folder, files):
    for name, text in files.items():
        path = pathlib.Path(folder) / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class Source(unittest.TestCase):
    def test_comments_and_strings_are_blanked(self):
        text = 'a /* { /* { */ { */ b // {\nc("{ \\" {", r#"{ " {"#, \'{\', \'\\\'\', b"{") d<\'x>'
        plain = blank(text)
        self.assertEqual(len(plain), len(text))
        self.assertEqual(plain.count("\n"), 1)
        self.assertNotIn("{", plain)
        self.assertIn("d<'x>", plain)

    def test_modules_of_tests_are_left_out(self):
        plain = without_tests(blank("use crate::a;\n#[cfg(test)]\nmod tests {\n use crate::b; {}\n}\nuse crate::c;"))
        self.assertNotIn("crate::b", plain)
        self.assertIn("crate::c", plain)


class Prose(unittest.TestCase):
    def found(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder).resolve() / name
            path.write_text(text)
            return run("prose.py", path)

    def test_words_links_files_and_citations_are_found(self):
        for text, says in (
            ("Bodies fly apart.", "'fly'"),
            ("See [there](nowhere.md).", "nowhere.md has no target"),
            ("# One\n[two](#two)", "no heading for #two"),
            ("Code in `sim/src/missing.rs`.", "no file sim/src/missing.rs"),
            ("As in [Nobody 1999, Eq. 3].", "[Nobody 1999] has no entry"),
        ):
            found = self.found("page.md", text)
            self.assertEqual(found.returncode, 1, text)
            self.assertIn(says, found.stdout)

    def test_code_is_no_prose_and_exempt_lines_pass(self):
        for name, text in (
            ("page.md", "# One\n[one](#one) `sim/src/step/mod.rs` [Li 2020, Eq. 1]\n```\nlet walk = fly();\n```\n"),
            ("page.md", "They walk. <!-- prose: allow -->"),
            ("code.rs", "fn walk() {} // visits all nodes\n/// Traverses the tree.\n"),
        ):
            found = self.found(name, text)
            self.assertEqual(found.returncode, 0, found.stdout)
        self.assertEqual(self.found("code.rs", "/// Walks the tree.\n").returncode, 1)


    def test_german_patterns_archaisms_and_dashes_are_found(self):
        for text, says in (
            ("The run goes on with step 3.", "'goes on with'"),
            ("The tree is built anew.", "'anew'"),
            ("The gap that is to be had there.", "'is to be had'"),
            ("Forces differ. Those of friction vanish.", "Those of"),
            ("That of the barrier is larger.", "That of"),
            ("It has 12 contacts in the mean.", "'in the mean'"),
            ("The gap is the better the smaller α is.", "'the better the smaller'"),
            ("An element \u2013 a triangle \u2013 moves.", "instead of a dash"),
            ("An element\u2014a triangle\u2014moves.", "instead of a dash"),
            ("The run goes on\nwith step 3.", "'goes on with'"),
        ):
            found = self.found("page.md", text + "\n")
            self.assertEqual(found.returncode, 1, text)
            self.assertIn(says, found.stdout)
        for text in ("Masses are in kg; those of obstacles are fictitious.", "Work goes on.", "| 3 | \u2013 | 4 |",
                     "Pages 3\u20135 have the arithmetic mean."):
            found = self.found("page.md", text + "\n")
            self.assertEqual(found.returncode, 0, found.stdout)

    def test_long_sentences_and_paragraphs_are_found(self):
        def sentence(n):
            return "Word" + " word" * (n - 1) + ". "

        for text, says in (
            (sentence(46), "a sentence of 46 words"),
            ("- One.\n- " + sentence(23).strip(". ") + "\n  and " + sentence(30), "page.md:2: a sentence of 54 words"),
            (sentence(5) * 9, "a paragraph of 9 sentences"),
        ):
            found = self.found("page.md", text)
            self.assertEqual(found.returncode, 1, text)
            self.assertIn(says, found.stdout)
        for text in (
            sentence(45), sentence(5) * 8, sentence(5) * 5 + "\n\n" + sentence(5) * 5, "- " + sentence(30) + "\n" + "- " + sentence(30),
            "| " + sentence(50) + " |\n|---|", "```text\n" + sentence(50) + "\n```", sentence(46) + "<!-- prose: allow -->",
            "See [the page with a long title](page.md) and `some code of many words within one pair of backticks`. " + sentence(40),
        ):
            found = self.found("page.md", text)
            self.assertEqual(found.returncode, 0, text + found.stdout)

    def test_messages_of_the_program_are_checked(self):
        code = '#[error("the run must go on with step {0}")]\nstruct E;\nfn f() { println!("walk"); } // a comment "with walk in it"\n'
        tests = '#[cfg(test)]\nmod tests {\n fn g() { h("they walk over there"); }\n}\n'
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder).resolve() / "src" / "a.rs"
            path.parent.mkdir()
            path.write_text(code + tests)
            found = run("prose.py", path)
        self.assertEqual(found.returncode, 1)
        self.assertIn("a.rs:1: 'go on with'", found.stdout)
        # a string of one word is no message; strings of tests and quotations in comments are none either
        self.assertEqual(len(found.stdout.splitlines()), 1, found.stdout)


class Results(unittest.TestCase):
    """The check of measured figures, on pages of a folder and on those of this repository."""

    ENTRY = {"command": "bench", "commit": "41c0698", "date": "2026-11-20", "values": {"mean of the ratios": 16.4},
             "printed": ["| mat | 50 | 270 | 89.2 | 5.804 | 15.4 |", "| chain10 | A | 126 | 1.6 |", "| chain10 | B | 124 | 1.4 |"]}
    PAGE = """# Page

<!-- results: time -->
| scene | steps | iterations | reference, s | s | ratio |
|---|---|---|---|---|---|
| mat | 50 | 270 | 89.2 | 5.80 | 15.4 |

<!-- results: time -->
The mean is 16.4 with h = 10 ms, at commit 41c0698 (`bench 3`).
"""
    NARROW = "\n<!-- results: time -->\n| mat | 270 | 5.80 |\n"
    CHAIN = "\n<!-- results: time -->\n| chain10 | 126 | 1.6 | 124 | 1.4 |\n"

    def faults(self, text, entries=None):
        import results

        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            (root / "docs" / "src").mkdir(parents=True)
            (root / "docs" / "src" / "page.md").write_text(text)
            file = {"machines": {}, "entries": {"time": self.ENTRY} if entries is None else entries}
            kept = results.ROOT, results.LOG, results.PAGES
            results.ROOT, results.LOG, results.PAGES = root, root / "log.md", ["docs/src/page.md"]
            try:
                results.LOG.write_text(results.log(file))
                return results.check(file)
            finally:
                results.ROOT, results.LOG, results.PAGES = kept

    def test_figures_of_the_file_pass_rounded_and_others_do_not(self):
        for text in (self.PAGE, self.PAGE.replace("h = 10 ms", "h = 20 ms").replace("bench 3", "bench 4"),
                     self.PAGE.replace("| mat |", "| twisted mat |"), self.PAGE + self.CHAIN, self.PAGE + self.NARROW):
            self.assertEqual(self.faults(text), [], text)
        for text in (self.PAGE.replace("270", "271"), self.PAGE.replace("5.80", "5.81"), self.PAGE.replace("16.4", "16.5"),
                     self.PAGE.replace("89.2 | 5.80", "5.80 | 89.2"), self.PAGE + self.CHAIN.replace("124", "270"),
                     self.PAGE + self.NARROW.replace("270 | 5.80", "5.80 | 270")):
            self.assertEqual(len(self.faults(text)), 1, text)

    def test_loose_figures_and_entries_are_found(self):
        for text, says in (
            (self.PAGE + "\nIt takes 3.2 s.\n", "'3.2 s'"),
            (self.PAGE + "\nIt is 1.7 times as fast.\n", "'1.7 times'"),
            (self.PAGE + "\n| a | b |\n|---|---|\n| x | 17 |\n", "a table of figures"),
            (self.PAGE + "\nAt commit a5e6992 too.\n", "commit a5e6992"),
            (self.PAGE.replace("results: time", "results: space"), "no entry space"),
            ("# Page\n", "no page uses time"),
        ):
            self.assertTrue(any(says in f for f in self.faults(text)), (text, self.faults(text)))
        for text in ("A ball falls for 3.2 s.", "The mesh has 1,200 vertices.", "<!-- not measured: settings -->\nIt takes 3 s.",
                     "`takes 3 s`", "```text\nIt takes 3 s.\n```", "A step takes h = 3 s [Li 2020, Fig. 3]."):
            self.assertEqual(self.faults(f"{self.PAGE}\n{text}\n"), [], text)
        section = self.PAGE + "\n## Section\n\n<!-- results: time -->\n\nIt takes 89.2 s.\n\nIt takes {} s.\n"
        self.assertEqual(self.faults(section.format("16.4")), [])
        self.assertEqual(len(self.faults(section.format("16.7"))), 1)

    def test_entries_without_command_commit_or_date_are_found(self):
        for key in ("command", "commit", "date"):
            self.assertTrue(self.faults(self.PAGE, {"time": self.ENTRY | {key: ""}}))

    def test_a_command_is_recorded_with_the_commit_of_a_clean_tree(self):
        import argparse
        import results

        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            (root / "program.py").write_text("print('no figure')\nprint('| mat | 270 |')\n")
            git = ["git", "-C", folder, "-c", "user.name=test", "-c", "user.email=test@localhost"]
            for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
                subprocess.run([*git, *words], check=True)
            arguments = argparse.Namespace(id="time", commit=None, machine=None, printed=None, run=[sys.executable, "program.py"])
            file, kept = {"machines": {}, "entries": {}}, (results.ROOT, results.FILE)
            results.ROOT, results.FILE = root, root / "results.json"
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    results.record(file, arguments)
                (root / "program.py").write_text("print('| mat | 271 |')\n")
                with self.assertRaises(SystemExit):
                    results.record(file, arguments)
            finally:
                results.ROOT, results.FILE = kept
            head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True).stdout
        entry = file["entries"]["time"]
        self.assertEqual(entry["printed"], ["| mat | 270 |"])
        self.assertTrue(head.startswith(entry["commit"]))

    def test_every_digit_of_the_tables_of_this_repository_counts(self):
        import results

        entries, _ = results.read(json.loads(results.FILE.read_text()))
        changed = 0
        for block in (b for path in results.pages() for b in results.blocks(path) if b.table and not b.script):
            for number, row in block.lines:
                if (block.marks or ("",))[0] != "results" or not results.numeric(row):
                    continue
                shown = [n.value for n in results.numbers(row)]
                for at in (i for i, c in enumerate(row) if c in "0123456789" and i > row.index("|", 1)):
                    other = row[:at] + str((int(row[at]) + 1) % 10) + row[at + 1:]
                    if [n.value for n in results.numbers(other)] == shown:
                        continue
                    changed += 1
                    copy = results.Block(block.heading, block.marks)
                    copy.table, copy.lines = True, [(number, other)]
                    self.assertTrue(results.check_marked("page", copy, entries), other)
        self.assertGreater(changed, 3000)


class Theory(unittest.TestCase):
    def test_force_and_stiffness_are_derivatives_of_the_barrier(self):
        import plot_theory as theory

        for d in (0.1, 0.36, 0.5, 0.9, 0.99):
            e = 1e-6 * d
            slope = (theory.b(d + e) - theory.b(d - e)) / (2 * e)
            self.assertAlmostEqual(theory.force(d) / -slope, 1, places=6)
            change = (theory.force(d + e) - theory.force(d - e)) / (2 * e)
            self.assertAlmostEqual(theory.relative_stiffness(d) * theory.force(d) / -change, 1, places=6)
        least = min(theory.relative_stiffness(k / 1000) for k in range(1, 1000))
        self.assertAlmostEqual(least, 3.0, delta=0.05)  # the figures on the page of contact
        self.assertAlmostEqual(theory.relative_stiffness(0.5), 3.5, delta=0.05)
        self.assertAlmostEqual(theory.relative_stiffness(0.9), 19, delta=0.5)


class Circles(unittest.TestCase):
    def circles(self, files, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            crate(folder, files)
            return run("import_circles.py", folder, *arguments)

    def test_a_circle_through_a_re_export_is_found(self):
        found = self.circles({
            "lib.rs": "pub mod a; pub mod b;",
            "a.rs": "use crate::b::Thing; pub struct A;",
            "b/mod.rs": "pub mod inner; mod other; pub use inner::{Thing, Else as Other};",
            "b/inner.rs": "pub struct Thing; fn f() { crate::a::A; }",
            "b/other.rs": "",
        })
        self.assertEqual(found.returncode, 1, found.stdout)
        self.assertIn("a → b::inner → a", found.stdout)

    def test_parent_and_child_are_no_circle_and_tests_do_not_count(self):
        found = self.circles({
            "lib.rs": "pub mod a; pub mod b; pub use a::A;",
            "a.rs": "pub struct A;\n#[cfg(test)] mod tests { use crate::b::B; }",
            "b/mod.rs": "mod inner; pub use inner::*; pub struct B; // use crate::b;",
            "b/inner.rs": "use super::B; use crate::A;",
        })
        self.assertEqual(found.returncode, 0, found.stdout)

    def test_depth_joins_what_lies_deeper(self):
        files = {
            "lib.rs": "mod a; mod b;", "a/mod.rs": "mod x; mod y;", "b/mod.rs": "mod z;",
            "a/x.rs": "use crate::b::z::Z;", "a/y.rs": "pub struct Y;", "b/z.rs": "use crate::a::y::Y; pub struct Z;",
        }
        self.assertEqual(self.circles(files, "--depth", 9).returncode, 0)
        self.assertEqual(self.circles(files, "--depth", 1).returncode, 1)
        self.assertEqual(self.circles(files).returncode, 1, "without --depth both are looked at")

    def test_a_file_of_tests_does_not_count(self):
        files = {
            "lib.rs": "mod a; mod b;", "a/mod.rs": "#[cfg(test)]\nmod tests; pub struct A;",
            "a/tests.rs": "use crate::b::B;", "b.rs": "use crate::a::A; pub struct B;",
        }
        self.assertEqual(self.circles(files).returncode, 0)
        files["a/mod.rs"] = "mod tests; pub struct A;"
        self.assertEqual(self.circles(files, "--depth", 1).returncode, 1)


class Long(unittest.TestCase):
    def test_lengths_and_reasons(self):
        body = "    let x = '{';\n" * 55
        short = "fn short() {\n    let s = \"}\";\n}\n"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.rs"
            for text, code in [
                (f"fn long(a: [u8; 3]) {{\n{body}}}\n{short}", 1),
                (f"// long: a table\n#[inline]\nfn long() {{\n{body}}}\n", 0),
                (f"fn long() {{\n    // long: a table\n{body}}}\n", 0),
                ("//! Module.\n" + "struct A;\n" * 401, 1),
                ("//! Module.\n// long: one place for all\n" + "struct A;\n" * 401, 0),
            ]:
                path.write_text(text)
                found = run("long_code.py", path)
                self.assertEqual(found.returncode, code, text[:60] + found.stdout)


class Release(unittest.TestCase):
    def setUp(self):
        spec = importlib.util.spec_from_file_location("release", HERE / "release.py")
        self.release = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.release)

    def test_this_repository_is_ready(self):
        checked = run("release.py", "check")
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_a_release_needs_a_tag_of_its_version(self):
        self.assertIn("the tag v9.9.9 is not v" + self.release.VERSION, list(self.release.check_versions("v9.9.9")))

    @unittest.skipIf(importlib.util.find_spec("yaml") is None, "PyYAML is not installed")
    def test_broken_workflows_are_found(self):
        good = "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - uses: actions/checkout@v6\n      - run: echo a\n"
        for text, fault in [
            (good, None),
            (good.replace("echo a", "if true; then"), "syntax error"),
            (good.replace("@v6", ""), "without a version"),
            (good.replace("    runs-on: x\n", "    needs: [b]\n    runs-on: x\n"), "needs b"),
            (good.replace("echo a", "python tools/absent.py"), "tools/absent.py is not there"),
            (good + "\t- x: [", "a.yml: "),
            ("jobs: {}", "no jobs"),
        ]:
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "a.yml"
                path.write_text(text)
                found = list(self.release.check_workflow(path))
            self.assertEqual(any(fault in f for f in found) if fault else not found, True, (text, found))

    def test_recipes_need_every_checksum(self):
        filled = self.release.recipes("https://example.org/s", {"any": "0" * 64})
        self.assertEqual(set(filled), {"recipe.yaml", "standoff.rb"})
        for text in filled.values():
            self.assertIn("https://example.org/s/releases/download/v" + self.release.VERSION, text)
            self.assertNotRegex(text, r"@\w+")
        self.assertIn("@SHA256:", "".join(self.release.recipes("https://example.org/s", {}).values()))

    def test_the_size_of_the_program_is_that_of_the_page(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            path = pathlib.Path(folder) / "standoff"
            path.write_bytes(bytes(100))
            [fault] = self.release.check_binary(path)
        self.assertIn("for the stripped program, which has 0.00 MB", fault)


def printed(work, *arguments):
    """What a function prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        work(*arguments)
    return out.getvalue()


class Runs(unittest.TestCase):
    def test_a_program_is_measured(self):
        done = measure([sys.executable, "-c", "import sys; print('out'); print('first\\nlast', file=sys.stderr); sum(range(10**6)); sys.exit(3)"])
        self.assertEqual((done.code, done.printed, done.last_line(), done.stopped), (3, "out\n", "last", False))
        self.assertTrue(0 < done.cpu < 10 and 0 < done.wall < 60 and done.peak_mib > 1, done)

    def test_two_full_streams_do_not_block(self):
        done = measure([sys.executable, "-c", "import sys; print('x' * 10**6); sys.stderr.write('y' * 10**6)"])
        self.assertEqual((done.code, len(done.printed), len(done.error)), (0, 10**6 + 1, 10**6))

    def test_a_program_that_takes_long_is_stopped(self):
        sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
        self.assertEqual(measure(sleep, seconds=0.2, end_by=signal.SIGTERM).code, -signal.SIGTERM)
        self.assertTrue(measure(sleep, seconds=0.2).stopped)
        busy = measure([sys.executable, "-c", "while True: pass"], cpu_seconds=1)
        self.assertEqual((busy.code, busy.stopped), (-signal.SIGXCPU, False))

    def test_a_program_that_fails_ends_the_script(self):
        self.assertEqual(printed_by([sys.executable, "-c", "print(7)"])[0], "7\n")
        with self.assertRaises(SystemExit):
            printed_by([sys.executable, "-c", "import sys; sys.exit(1)"])

    def test_the_command_of_a_scene(self):
        words = scene_command("standoff", "a.toml", "out", sets=["time.step=1"], steps=0, meshes="m", options=["--solver", "dot"])
        self.assertEqual(" ".join(words), "standoff run a.toml -o out --force --quiet --threads 1 --steps 0 --mesh-root m --set time.step=1 --solver dot")
        self.assertNotIn("--threads", scene_command("standoff", "a.toml", "out", threads=None))
        self.assertEqual(file_name("a b/c, d-1.5"), "a_b_c__d-1.5")


class Reports(unittest.TestCase):
    STEPS = [{"newton_iterations": 3, "max_contacts": 5, "min_gap": None, "outcome": "converged", "seconds": {"total": 1.0, "ccd": 0.25}},
             {"newton_iterations": 4, "max_contacts": 2, "min_gap": 1e-3, "outcome": "max-iterations", "seconds": {"total": 2.0, "ccd": 0.5}}]

    def test_reports_are_read_without_a_line_that_is_not_finished(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(stats.reports(folder), [])
            (pathlib.Path(folder) / "stats.jsonl").write_text("".join(json.dumps(s) + "\n" for s in self.STEPS) + '{"newton_iter')
            self.assertEqual(stats.reports(folder), self.STEPS)

    def test_totals(self):
        found = self.STEPS
        self.assertEqual((stats.iterations(found), stats.contacts(found), stats.unconverged(found), stats.gap(found)), (7, 5, 1, 1e-3))
        self.assertEqual((stats.seconds(found), stats.seconds(found, "ccd"), stats.mean(found, "newton_iterations")), (3.0, 0.75, 3.5))
        self.assertEqual((stats.iterations([]), stats.contacts([]), stats.mean([], "contacts")), (0, 0, 0))
        self.assertTrue(math.isnan(stats.gap(found[:1])))


class Tables(unittest.TestCase):
    def test_rows_are_printed_and_read_back(self):
        text = printed(tables.head, "a", "b") + printed(tables.row, 1, "x")
        self.assertEqual(text, "| a | b |\n|---|---|\n| 1 | x |\n")
        self.assertEqual(tables.cells_of(text), [["a", "b"], ["1", "x"]])
        self.assertEqual(tables.markdown([["a", "b"], [1, "x"]]), "| a | b |\n| --- | --- |\n| 1 | x |")

    def test_numbers(self):
        self.assertAlmostEqual(tables.geometric_mean([2, 8]), 4)
        self.assertTrue(math.isnan(tables.geometric_mean([])))
        self.assertEqual((tables.number(0.012345), tables.number(None), tables.number(1234.5, 2)), ("0.0123", "–", "1200"))
        self.assertEqual((tables.scientific(math.nan), tables.scientific(0.00123)), ("–", "1.2e-03"))

    def test_a_part_of_a_page_is_replaced(self):
        page = "a\n<!-- x -->\nold\n<!-- end -->\nb\n<!-- end -->"
        self.assertEqual(tables.replaced(page, "<!-- x -->", r"new \1"), page.replace("old", r"new \1"))
        with self.assertRaises(SystemExit):
            tables.replaced(page, "<!-- y -->", "new")


class SceneLists(unittest.TestCase):
    def test_every_data_file_says_where_it_comes_from(self):
        for path in (HERE / "data").glob("*.json"):
            self.assertGreater(len(data(path.stem)["from"].split()), 5, path.name)

    def test_the_files_of_the_lists_are_there(self):
        lists = [("bench-scenes", key) for key in ("solids", "thin", "large")]
        lists += [("ablation-scenes", "scenes")]
        lists += [("solver-scenes", key) for key in ("table", "fallback", "bound", "ablation")]
        for name, key in lists:
            found = scenes.scenes(name, key)
            self.assertEqual(len(found), len({s.name for s in found}), key)
            for scene in found:
                self.assertTrue(scene.shared or scene.path(None).is_file(), scene.file)
        shortened = [e["name"] for e in data("build-scenes")["shortened"]]
        for name in shortened:
            self.assertTrue(name.startswith("ipc/") or (ROOT / "scenes" / f"{name}.toml").is_file(), name)
        named = {s.name for s in scenes.scenes("bench-scenes", "solids")}
        self.assertLessEqual(data("bench-reference")["seconds"].keys(), named)

    def test_scenes_are_chosen_by_a_part_of_their_name(self):
        listed = [scenes.Scene("one", "README.md", 1), scenes.Scene("two", "shared:two.txt", 2, ["a=1"], ratio=3)]
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual([s.name for s in scenes.present(listed, [], pathlib.Path("nowhere"))], ["one"])
            self.assertEqual([s.name for s in scenes.present(listed, ["n"], pathlib.Path("nowhere"))], ["one"])
        self.assertEqual(said.getvalue(), "two: skipped, nowhere/two.txt is absent\n")
        self.assertEqual((listed[1].meshes(ROOT), listed[1].more, listed[0].meshes(ROOT)), (ROOT / "data" / "ipc", {"ratio": 3}, None))


class RawFrames(unittest.TestCase):
    def test_arrays_are_read_packed_or_not(self):
        points, body = struct.pack("<6d", *range(6)), struct.pack("<2i", 0, 1)
        for compressor in ("", ' compressor="vtkZLibDataCompressor"'):
            packed = b""
            offsets = []
            for raw in (points, body):
                offsets.append(len(packed))
                short = zlib.compress(raw)
                packed += struct.pack("<4Q", 1, len(raw), 0, len(short)) + short if compressor else struct.pack("<Q", len(raw)) + raw
            text = (f'<VTKFile header_type="UInt64"{compressor}><CellData><DataArray type="Int32" Name="body" offset="{offsets[1]}"/></CellData>'
                    f'<Points><DataArray type="Float64" Name="Points" NumberOfComponents="3" offset="{offsets[0]}"/></Points>'
                    '<AppendedData encoding="raw">_').encode()
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "a.vtu"
                path.write_bytes(text + packed)
                found = frames.raw_arrays(path)
                self.assertEqual(frames.raw_positions(path), tuple(range(6)))
            self.assertEqual(found, {"points": ("Float64", points, 3, False), "body": ("Int32", body, 1, True)})


class Frames(unittest.TestCase):
    def test_frames_of_a_run(self):
        if BINARY is None or not importlib.util.find_spec("numpy"):
            self.skipTest("no binary was given, or numpy is not installed")
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "run"
            done = run_scene(BINARY, ROOT / "scenes/unit/tet-tet.toml", out, steps=2, sets=["output.every=1"])
            self.assertEqual((done.code, len(stats.reports(out))), (0, 2), done.error)
            try:
                frames.package()
            except SystemExit as said:
                self.skipTest(str(said))
            found = frames.Frames(out)
            raw = [frames.raw_positions(out / "frames" / f"{step:06}.vtu") for step in (0, 2)]
            self.assertEqual((found.steps, found.times()[0]), ([0, 1, 2], 0.0))
            for step, wanted in zip((0, 2), raw):
                self.assertEqual([c for point in found.array(step, "points") for c in point], list(wanted))
            first, *_ = found.bodies.values()
            self.assertEqual(len(found.array(2, "velocity", first["name"])), first["vertices"])
            self.assertEqual(len(found.deformable(2)), sum(b["vertices"] for b in found.listed if not b["obstacle"]))
            self.assertIsNone(found.deformable(7))
            with self.assertRaises(KeyError):
                found.array(2, "nothing")


class Meshes(unittest.TestCase):
    def test_the_scripts_write_the_meshes_of_the_scenes(self):
        with tempfile.TemporaryDirectory() as folder:
            written = pathlib.Path(folder)
            self.assertEqual(run("orientation_meshes.py", written).returncode, 0)
            self.assertEqual(run("gallery_meshes.py", "--tube", "24,12", written / "tube-wall.vtk").returncode, 0)
            self.assertEqual(len(list(written.iterdir())), 5)
            for path in written.iterdir():
                place = "codim" if path.stem == "tube-wall" else "orientation"
                self.assertEqual(path.read_bytes(), (ROOT / "scenes" / place / path.name).read_bytes(), path.name)

    def test_the_cloth_that_a_robot_lifts(self):
        with tempfile.TemporaryDirectory() as folder:
            written = pathlib.Path(folder) / "cloth.obj"
            self.assertEqual(run("folded_cloth.py", written).returncode, 0)
            self.assertEqual(written.read_bytes(), (ROOT / "scenes/robots/folded-cloth.obj").read_bytes())

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "numpy is not installed")
    def test_the_ribbon_of_a_knot(self):
        with tempfile.TemporaryDirectory() as folder:
            written = pathlib.Path(folder) / "ribbon.obj"
            self.assertEqual(run("ribbon.py", written).returncode, 0)
            self.assertEqual(written.read_bytes(), (ROOT / "scenes/codim/ribbon.obj").read_bytes())


class Gallery(unittest.TestCase):
    """Rows of tools/gallery.py: what they may claim."""

    TEST = "sim/tests/slope.rs"

    def row(self, **panel):
        return gallery.prepared({"figure": "1", "content": "a row", **panel})

    def panel(self, size, steps, **more):
        return {"paper": {"vertices": 1000, "steps": 100}, "ours": {"test": self.TEST, "vertices": size, "steps": steps}, **more}

    def test_full_needs_four_fifths_of_size_and_of_steps(self):
        self.assertEqual(gallery.state(self.row(**self.panel(800, 80))), ("full", ""))
        for size, steps in ((799, 100), (1000, 79), (3, 1)):
            row = self.row(**self.panel(size, steps, because="not run"))
            self.assertEqual(gallery.state(row), ("reduced", f"size {gallery.share(size / 1000)}, steps {gallery.share(steps / 100)}"))
            with self.assertRaisesRegex(gallery.Fault, "needs a reason"):
                self.row(**self.panel(size, steps))

    def test_the_smaller_of_two_sizes_counts(self):
        panel = {"paper": {"vertices": 10, "tets": 100, "steps": 1}, "ours": {"test": self.TEST, "vertices": 10, "tets": 50, "steps": 1}}
        self.assertEqual(self.row(**panel, because="not run")["panels"][0]["ratios"], (0.5, 1.0))

    def test_what_the_paper_does_not_print_makes_nothing_full(self):
        ours = {"ours": {"test": self.TEST, "vertices": 8, "steps": 5}}
        for reasons in ({}, {"shapes": "cubes"}, {"event": "at rest"}):
            with self.assertRaisesRegex(gallery.Fault, "needs a reason"):
                self.row(**ours, **reasons)
        self.assertEqual(gallery.state(self.row(**ours, shapes="cubes", event="at rest"))[0], "full")

    def test_no_reason_goes_with_full(self):
        row = self.row(**self.panel(1000, 100, because="no mesh", mesh=["no such animal"]))
        self.assertEqual(gallery.state(row)[0], "reduced")
        self.assertEqual(gallery.state(self.row(**self.panel(1000, 100, because="other result"))), ("no", "the result differs"))
        with self.assertRaisesRegex(gallery.Fault, "none of"):
            self.row(because="no time")

    def test_a_stopped_run_is_not_full(self):
        panel = {"figures": {"finished": False}, "ratios": (1.0, None), "event": "all of it"}
        self.assertFalse(gallery.is_full(panel))
        self.assertTrue(gallery.is_full(panel | {"figures": {"finished": True}}))

    def test_missing_panels_are_counted(self):
        whole, absent = self.panel(1000, 100, name="a"), {"name": "b", "because": "method"}
        self.assertEqual(gallery.state(self.row(panels=[whole, absent])), ("part", "1 of 2"))
        self.assertEqual(gallery.state(self.row(panels=[whole], of=3)), ("part", "1 of 3"))
        self.assertEqual(gallery.state(self.row(panels=[absent])), ("no", "not implemented"))

    def test_a_mesh_that_is_there_is_no_reason(self):
        for reason in ("no mesh", "mesh elsewhere"):
            with self.assertRaisesRegex(gallery.Fault, "bunny.msh"):
                self.row(because=reason, mesh=["bunny"])
            with self.assertRaisesRegex(gallery.Fault, "needs `mesh`"):
                self.row(because=reason)
            self.row(because=reason, mesh=["no such animal"])

    def test_figures_are_on_record(self):
        entry = {"results": "study-tube", "vertices": 1392, "steps": 100}
        self.assertEqual(self.row(ours=entry, because="not run")["panels"][0]["figures"]["vertices"], 1392)
        with self.assertRaisesRegex(gallery.Fault, "not among the figures"):
            self.row(ours=entry | {"vertices": 88000}, because="not run")
        for ours, says in (({"scene": "no/scene"}, "gallery-runs"), ({"ipc_paper": "nothing"}, "ipc-paper"), ({"test": "sim/tests/no.rs"}, "no test"),
                           ({"test": f"{self.TEST}: nothing"}, "no test"), ({"results": "nothing"}, "no entry")):
            with self.assertRaisesRegex(gallery.Fault, says):
                self.row(ours=ours, because="not run")

    def test_the_pages_are_those_of_the_data(self):
        self.assertEqual(run("gallery.py", "--check").stderr, "")


class AtSize(unittest.TestCase):
    """Scenes at the papers' size: tools/papers.py and its list, on a scene of two cubes."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name).resolve()
        self.entries = {}
        for name, value in (("entries", lambda: self.entries), ("RECORDS", self.root / "at-size.json")):
            self.addCleanup(setattr, at_size, name, getattr(at_size, name))
            setattr(at_size, name, value)

    def scene(self, **entry):
        entry = {"name": "tiny", **entry}
        self.entries[entry["name"]] = entry
        return at_size.Scene(entry, self.root / "shared")

    def run_tiny(self, seconds=None, grace=60):
        args = argparse.Namespace(names=["tiny"], shared=self.root / "shared", out=self.root / "out", binary=BINARY, hours=None, seconds=seconds,
                                  grace=grace, threads=1)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            code = papers.run(args)
        return code, said.getvalue(), at_size.records().get("tiny")

    def test_a_run_stops_at_its_limit_and_is_continued_to_its_end(self):
        if BINARY is None:
            self.skipTest("no binary was given")
        self.scene(scene="scenes/two-cubes-fall.toml", set=["time.end=20", "objects[0].shape.cells=[8, 8, 8]"], every=50)
        code, said, first = self.run_tiny(seconds=1)
        self.assertEqual((code, first["finished"], first["audit"], first["sessions"]), (0, False, "clean", 1), said)
        self.assertGreater(first["steps"], 0)
        self.assertLess(first["steps"], first["of"])
        frame = self.root / "out" / "tiny" / "frames" / "000000.vtu"
        written = frame.stat().st_mtime_ns
        code, said, last = self.run_tiny()
        # the second call has continued, and not started again
        self.assertEqual(frame.stat().st_mtime_ns, written)
        self.assertEqual((code, last["steps"], last["finished"], last["sessions"], last["unclean"]), (0, last["of"], True, 2, 0), said)
        self.assertEqual(last["of"], first["of"])
        self.assertGreater(last["seconds"], first["seconds"])
        self.assertGreater(last["frames"], first["frames"])
        self.assertGreater(last["memory_mib"], 1)
        self.assertEqual([r["step"] for r in stats.reports(self.root / "out" / "tiny")], list(range(1, last["of"] + 1)))
        self.assertIn("all steps have been computed", self.run_tiny()[1])
        self.entries["tiny"]["set"] = ["time.end=50"]
        with self.assertRaisesRegex(SystemExit, "the scene has changed"):
            self.run_tiny()

    def test_what_a_finished_run_does_not_show_is_recorded(self):
        if BINARY is None:
            self.skipTest("no binary was given")
        self.scene(scene="scenes/codim/cloth-on-needles.toml", set=["time.end=0.1"])
        self.assertIn("not shown", self.run_tiny()[2]["shown"])

    def test_a_scene_without_its_mesh_is_skipped_and_the_mesh_named(self):
        for entry in ({"scene": "scenes/two-cubes-fall.toml", "set": ['objects[0].mesh="data:ipc/tetMeshes/no-such-animal.msh"']},
                      {"ipc": "paperExamples/no-such-scene"}, {"template": "dress.toml"}, {"made": "dress"}):
            with self.assertRaisesRegex(at_size.Absent, "absent"):
                self.scene(**entry).arguments(self.root)
        code, said, record = self.run_tiny()
        self.assertEqual((code, record), (0, None))
        self.assertIn("tiny: skipped, garments is absent", said)
        reference = self.scene(ipc="paperExamples/8_rollerBall")
        with self.assertRaisesRegex(at_size.Absent, "absent are tetMeshes/no.msh in "):
            reference.ipc("shapes input 1\ninput/tetMeshes/no.msh 0 0 0\n")
        self.assertEqual(reference.arguments(self.root)[1:], ["--mesh-root", str(ROOT / "testdata" / "data" / "ipc")])

    def test_scenes_are_made_once_and_equal(self):
        scene = self.scene(made="card_shuffle", arguments={"cards": 3})
        path = pathlib.Path(scene.arguments(self.root)[0])
        self.assertEqual(path.read_text().count('role = "shell"'), 3)
        before = path.stat().st_mtime_ns
        self.assertEqual(scene.arguments(self.root)[0], str(path))
        self.assertEqual(path.stat().st_mtime_ns, before)
        self.assertIn("45 0 0", self.scene(made="chain", arguments={"links": 2}).written(self.root)[0].read_text().replace("0 90 0", "45 0 0"))

    def test_the_longest_step_has_its_three_longest_phases(self):
        quick = {"step": 1, "newton_iterations": 2, "max_contacts": 0, "step_cuts": {"ccd": 0}, "seconds": {"total": 1.0, "ccd": 0.9}}
        slow = {"step": 2, "newton_iterations": 9, "max_contacts": 4, "step_cuts": {"ccd": 3, "strain": 0},
                "seconds": {"total": 7.04, "ccd": 0.5, "solve": 2.0, "audit": 0.1, "contact": 1.0}}
        self.assertEqual(papers.slowest([quick, slow, quick]), {"step": 2, "seconds": 7.0, "iterations": 9, "contacts": 4, "cuts": {"ccd": 3},
                                                               "phases": {"solve": 2.0, "contact": 1.0, "ccd": 0.5}})

    def test_an_entry_is_of_one_kind(self):
        for entry, says in (({}, "one of scene"), ({"scene": "a", "ipc": "b"}, "one of scene"), ({"scene": "a", "sets": []}, "unknown keys")):
            with self.assertRaisesRegex(ValueError, says):
                self.scene(**entry)

    def test_tetrahedra_are_divided_into_eight_of_the_same_volume(self):
        points = [(0, 0, 0), (2, 0, 0), (0, 1, 0), (0.3, 0.2, 1.5)]
        # in every order of its corners, so that each of the three diagonals is the shortest
        tets = list(itertools.permutations(range(4)))
        finer, small = meshes.eighths(points, tets)
        self.assertEqual((len(small), len(finer)), (8 * len(tets), 4 + 6))
        for k, t in enumerate(tets):
            for s in small[8 * k:8 * k + 8]:
                self.assertAlmostEqual(8 * abs(meshes.volume(finer, s)), abs(meshes.volume(points, t)))

    def test_a_run_of_the_papers_size_makes_a_panel_full(self):
        panel = {"figure": "1", "content": "a row", "paper": {"vertices": 1000, "steps": 100}, "because": "not run", "why": "too slow", "at_size": ["tiny"]}
        self.scene(scene="scenes/two-cubes-fall.toml")
        self.assertEqual(gallery.state(gallery.prepared(panel)), ("no", "not run"))
        whole = {"vertices": 900, "tets": 0, "steps": 90, "of": 100, "contacts": 3, "finished": True, "audit": "clean"}
        for change, state in (({}, "full"), ({"steps": 70}, "no"), ({"vertices": 700}, "no"), ({"audit": "3 intersections"}, "no"),
                              ({"finished": False}, "no"), ({"shown": "not shown: it"}, "no"), ({"shown": True}, "full")):
            at_size.save({"tiny": whole | change})
            self.assertEqual(gallery.state(gallery.prepared(panel))[0], state, change)
        at_size.save({"tiny": whole})
        # the smaller run's reason goes, what the larger one lacks is said
        self.assertEqual(gallery.cells(gallery.prepared(panel)["panels"][0])[2], "")
        self.entries["tiny"]["differs"] = "a mesh of our own"
        shown = gallery.cells(gallery.prepared(panel)["panels"][0])
        self.assertEqual(shown[1:], ("900 vertices, 90 steps, 3 contacts, `tools/papers.py run tiny`", "a mesh of our own"))
        self.entries["tiny"]["instead"] = "a body of our own"
        self.assertEqual(gallery.state(gallery.prepared(panel))[0], "no")
        with self.assertRaisesRegex(gallery.Fault, "no scene nothing"):
            gallery.prepared(panel | {"at_size": ["nothing"]})


class ListOfSizes(unittest.TestCase):
    def test_every_scene_has_its_files_and_a_row(self):
        places = gallery.places_at_size(gallery.load())
        for name, entry in at_size.entries().items():
            at_size.Scene(entry, ROOT / "nowhere")
            self.assertIn(name, places)
            if "scene" in entry:
                self.assertTrue((ROOT / entry["scene"]).is_file(), name)
            if "template" in entry:
                self.assertTrue((HERE / "data" / "at-size" / entry["template"]).is_file(), name)
            self.assertTrue("made" not in entry or hasattr(made_scenes, entry["made"]), name)
        self.assertEqual(set(places) | set(at_size.records()), set(at_size.entries()))


class EqualError(unittest.TestCase):
    def test_the_cost_of_an_error_lies_between_two_tolerances(self):
        from equal_error import at_error, parse

        table = "| tolerance | Newton iterations | CPU s | largest error | mean error |\n|---|---|---|---|---|\n"
        table += "| 0.1 | 2.0 | 0.2000 | 3.0e-1 | 1.0e-1 |\n| 0.01 | 8.0 | 0.8000 | 3.0e-3 | 1.0e-3 |\n\n2 steps compared"
        rows = parse(table)
        self.assertEqual(rows, [(0.1, 2.0, 0.2, 0.1), (0.01, 8.0, 0.8, 1e-3)])
        iterations, seconds = at_error(rows, 1e-2)
        self.assertAlmostEqual(iterations, 4.0)
        self.assertAlmostEqual(seconds, 0.4)
        self.assertEqual(at_error(rows, 0.2), 0)
        self.assertIsNone(at_error(rows, 1e-4))
        self.assertIsNone(at_error([], 1e-2))


class Builds(unittest.TestCase):
    def compare(self, *arguments):
        if BINARY is None:
            self.skipTest("no binary was given")
        return run("compare_builds.py", BINARY, BINARY, "--quick", *arguments)

    def test_a_build_equals_itself(self):
        found = self.compare("--only", "tet-slots", "ipc/slope_0.5")
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)
        self.assertIn("4 runs, 280 steps", found.stdout)

    def test_another_setting_is_a_difference(self):
        for value in ("solver.end.velocity=1e-4", "output.every=2", "gravity=[0, -9.81000001, 0]"):
            found = self.compare("--only", "tet-slots", "--new-set", value)
            self.assertEqual(found.returncode, 1, value + found.stdout)
        found = self.compare("--only", "cube-stack", "--tolerance", "--new-set", "solver.end.velocity=1e-4")
        self.assertEqual(found.returncode, 1, found.stdout)

    def test_a_missing_build_is_said(self):
        if BINARY is not None:
            self.assertEqual(run("compare_builds.py", BINARY, "nothing").returncode, 2)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        BINARY = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
