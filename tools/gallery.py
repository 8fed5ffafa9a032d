#!/usr/bin/env python3
"""Writes the tables of docs/src/gallery: every figure and table of the papers, and what Standoff has run of it.

    tools/gallery.py                            # writes the tables between their marks, and the counts of index.md
    tools/gallery.py --check                    # exit code 1 if they are out of date, or a row claims what its figures do not
    tools/gallery.py measure BINARY OUT [PART]  # runs the scenes of the rows again, and says how large they are and what they have

The rows are in tools/data/gallery.toml, whose first lines explain them. Our sizes, steps and contacts come from runs: those of `measure` are in
docs/gallery-runs.json, others in docs/at-size.json (tools/papers.py), docs/ipc-paper.json, docs/orientation-paper.json and docs/results.json. `measure`
runs the scenes whose command contains PART, each for --seconds of wall time at most, and keeps the steps that it has computed by then.

The word of a state follows from ratios of size and of steps, ours over the paper's: see `state`. Only Python's standard library is used.
"""
import argparse, json, pathlib, re, sys, tomllib

from standoff_tools import ROOT, TOOLS, at_size, stats
from standoff_tools.run import checked, commit, file_name, measure, scene_command
from standoff_tools.tables import markdown, number, replaced

FOLDER, RUNS = ROOT / "docs" / "src" / "gallery", ROOT / "docs" / "gallery-runs.json"
PAPERS = {
    "ipc-2020": "[Li 2020]", "thesis-2020": "[Li 2020 thesis], without what other pages list", "codimensional-2021": "[Li 2021]",
    "orientation-aware-2024": "[Huang 2024]", "barrier-free-2025": "[Zheng 2025]",
}
STATES = ["full", "reduced", "part", "no", "no experiment"]
BEGIN, END = "<!-- tools/gallery.py -->", "<!-- end -->"
# how much smaller a run may be and still count as the paper's
ENOUGH = 0.8
# why a panel is not shown, or only smaller, and how the pages say so
REASONS = {
    "not run": "not run in full",
    "no mesh": "no mesh",
    "mesh elsewhere": "the mesh is not in this repository",
    "method": "not implemented",
    "not recorded": "not recorded",
    "other program": "another program",
    "other result": "the result differs",
}
# phases and bounds of steps in words of the book
PHASES = {"broad_phase": "broad phase", "ccd": "collision detection", "factorisation": "preconditioner or factor", "symbolic": "ordering"}
CUTS = {"ccd": "collisions", "inversion": "inversion", "strain": "limits of the stretch", "line_search": "line search"}
SIZES = {"vertices": "vertices", "tets": "tetrahedra"}
ROW_KEYS = {"figure", "content", "where", "drawing", "see", "unit_test", "panels", "same_as", "of", "rest"}
PANEL_KEYS = {"name", "paper", "ours", "shapes", "event", "because", "why", "mesh", "at_size"}
# folders of meshes; the second is outside of the repository and may be absent
MESHES = [ROOT / "testdata" / "data", ROOT.parent / "shared" / "data"]


def records(name):
    path = ROOT / "docs" / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {}


class Fault(Exception):
    """A row that says what it may not say."""


# ---- our figures ----

def numbers_of(entry):
    """All numbers of an entry of docs/results.json."""
    text = "\n".join([entry["command"], *entry.get("printed", []), *map(str, entry.get("values", {}).values())])
    return {float(n.replace(",", "")) for n in re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?", text)}


def key_of(ours):
    """The scene and the options of a run, as they follow `standoff run`."""
    scene = ours["scene"]
    path = scene if scene.endswith(".txt") else f"scenes/{scene}.toml"
    return " ".join([path, *(f"--set {s!r}" if re.search(r"[\[\]\" ]", s) else f"--set {s}" for s in ours.get("set", ()))])


def of_file(name, key, entry, names):
    if entry is None:
        raise Fault(f"{name} has no {key}")
    return {own: entry[theirs] for own, theirs in names.items() if entry.get(theirs) is not None}


def figures(ours):
    """Vertices, tetrahedra, steps and contacts of a run, and where they are from."""
    stated = {k: ours[k] for k in ("vertices", "tets", "steps", "contacts") if k in ours}
    if "scene" in ours:
        key = key_of(ours)
        found = of_file("docs/gallery-runs.json (tools/gallery.py measure)", key, records("gallery-runs").get(key),
                        {"vertices": "vertices", "tets": "tets", "steps": "steps", "contacts": "contacts", "finished": "finished"})
        return found, f"`standoff run {key}`"
    if "ipc_paper" in ours:
        key = ours["ipc_paper"]
        found = of_file("docs/ipc-paper.json", key, records("ipc-paper").get(key),
                        {"vertices": "nodes", "tets": "tets", "steps": "computed", "contacts": "contacts_max"})
        return found, f"`tools/ipc_paper.py run … {key}`"
    if "orientation_paper" in ours:
        key = ours["orientation_paper"]
        found = of_file("docs/orientation-paper.json", key, records("orientation-paper").get(key),
                        {"vertices": "vertices", "tets": "tets", "steps": "computed", "contacts": "contacts"})
        return found, "`tools/orientation_paper.py run …`"
    if "at_size" in ours:
        key = ours["at_size"]
        found = of_file("docs/at-size.json", key, at_size.records().get(key),
                        {"vertices": "vertices", "tets": "tets", "steps": "steps", "contacts": "contacts", "finished": "finished"})
        return found, f"`tools/papers.py run {key}`"
    if "results" in ours:
        entry = records("results")["entries"].get(ours["results"])
        if entry is None:
            raise Fault(f"docs/results.json has no entry {ours['results']}")
        absent = [n for n in stated.values() if n not in numbers_of(entry)]
        if absent and "sizes_from" not in ours:
            raise Fault(f"{absent} is not among the figures of the entry {ours['results']}")
        return stated, f"`{entry['command'].splitlines()[0]}`"
    check_test(ours["test"])
    return stated, f"test `{ours['test'].rpartition(': ')[2]}`"


def check_test(test):
    """A test is named as FILE: FUNCTION, where the file is in a crate."""
    path, _, function = test.partition(": ")
    file = ROOT / "crates" / path
    if not file.exists() or function and not re.search(rf"fn {re.escape(function)}\b", file.read_text()):
        raise Fault(f"there is no test {test}")


# ---- what a row may say ----

def meshes_named(name):
    """Files of meshes whose name contains a word, with the folder they are in."""
    found = []
    for folder in MESHES:
        if folder.is_dir():
            files = (p for p in folder.rglob("*") if p.suffix in (".msh", ".obj", ".vtk", ".seg", ".stl", ".ply"))
            found += [(folder, p) for p in files if name.lower() in p.stem.lower()]
    return found


def check_mesh(panel):
    """That no mesh exists, or that it exists elsewhere, is checked by its name."""
    reason, names = panel.get("because"), panel.get("mesh", [])
    if reason in ("no mesh", "mesh elsewhere") and not names:
        raise Fault(f"the reason '{reason}' needs `mesh`, the names of the meshes")
    for name in names:
        for folder, file in meshes_named(name):
            if reason == "no mesh" or reason == "mesh elsewhere" and folder == MESHES[0]:
                raise Fault(f"the reason is '{reason}', but there is {file}")


def ratios(panel):
    """Ours over the paper's: the least of the ratios of sizes, and that of steps; `None` where the paper gives no number."""
    paper, ours = panel.get("paper", {}), panel["figures"]
    sizes = [ours[k] / paper[k] for k in SIZES if k in paper and k in ours]
    return min(sizes, default=None), ours["steps"] / paper["steps"] if "steps" in paper and "steps" in ours else None


def is_full(panel):
    """A run of at least 0.8 of the paper's size and steps that no reason restricts. Where the paper gives no size, it has to have the same shapes,
    and where it gives no number of steps, it has to contain the whole event; the row says why that is so. A run that was stopped is not full."""
    size, steps = panel["ratios"]
    large = size >= ENOUGH if size is not None else "shapes" in panel
    long = steps >= ENOUGH if steps is not None else "event" in panel
    return large and long and "because" not in panel and panel["figures"].get("finished", True)


def at_paper_size(panel):
    """The panel as the first of its scenes of the paper's size shows it that has been run far enough, otherwise as it is."""
    recorded, entries = at_size.records(), at_size.entries()
    for name in panel.get("at_size", ()):
        if name not in entries:
            raise Fault(f"tools/data/at-size.toml has no scene {name}")
        if name not in recorded or "instead" in entries[name]:
            continue
        larger = {k: v for k, v in panel.items() if k not in ("because", "why", "mesh", "event")} | {"ours": {"at_size": name}}
        larger |= {own: entries[name][theirs] for own, theirs in (("event", "event"), ("why", "differs")) if theirs in entries[name]}
        seen = larger | {"figures": figures(larger["ours"])[0]}
        if is_full(seen | {"ratios": ratios(seen)}) and recorded[name]["audit"] == "clean" and recorded[name].get("shown") in (None, True):
            return larger
    return panel


def panels_of(row, rows):
    """The panels of a row. `same_as` takes those of other rows, by the figure, or by figure/name."""
    if "same_as" not in row:
        own = {k: row[k] for k in row if k in PANEL_KEYS}
        return [dict(p) for p in row.get("panels", [own] if own else [])]
    found = []
    for name in row["same_as"]:
        figure, _, panel = name.partition("/")
        of = [p for r in rows if r["figure"].split(" <!--")[0] == figure for p in panels_of(r, rows) if panel in ("", p.get("name"))]
        if not of:
            raise Fault(f"there is no panel {name}")
        found += of
    return found


def prepared(row, rows=()):
    """A row with its panels, their figures and its state; raises a `Fault` where they contradict each other."""
    row = {k: v for k, v in row.items() if k not in PANEL_KEYS} | {"panels": [at_paper_size(p) for p in panels_of(row, rows)]}
    if unknown := set(row) - ROW_KEYS | {k for p in row["panels"] for k in set(p) - PANEL_KEYS}:
        raise Fault(f"unknown keys {sorted(unknown)}")
    if "unit_test" in row:
        check_test(row["unit_test"])
    for panel in row["panels"]:
        reason = panel.get("because")
        if reason is not None and reason not in REASONS:
            raise Fault(f"the reason '{reason}' is none of {', '.join(REASONS)}")
        check_mesh(panel)
        if "ours" in panel and reason != "other result":
            panel["figures"], panel["source"] = figures(panel["ours"])
            panel["ratios"] = ratios(panel)
            panel["full"] = is_full(panel)
        if not panel.get("full") and reason is None:
            raise Fault("what is smaller than in the paper, or is not shown, needs a reason")
    if not row["panels"] and not {"drawing", "see", "unit_test"} & set(row):
        raise Fault("the row has neither panels nor a unit test")
    return row


def state(row):
    """The word of a row, and what follows it."""
    if "see" in row:
        return "see", row["see"]
    if "drawing" in row:
        return "no experiment", ""
    if "unit_test" in row:
        return "full", ""
    shown, of = [p for p in row["panels"] if "ratios" in p], max(row.get("of", 0), len(row["panels"]))
    if not shown:
        return "no", ", ".join(dict.fromkeys(map(reason_text, row["panels"])))
    if len(shown) < of:
        return "part", f"{len(shown)} of {of}" + ("" if all(p["full"] for p in shown) else "; " + worst(shown))
    return ("full", "") if all(p["full"] for p in shown) else ("reduced", worst(shown))


def worst(panels):
    """The smallest run of some panels, by the product of its ratios."""
    return ratio_text(min(panels, key=lambda p: (p["full"], (p["ratios"][0] or 1) * (p["ratios"][1] or 1))))


def ratio_text(panel):
    size, steps = panel["ratios"]
    text = [f"{what} {'not given' if r is None else share(r)}" for what, r in (("size", size), ("steps", steps))]
    return ", ".join(text)


def share(ratio):
    return f"{ratio:.2f}" if ratio >= 0.095 else f"{float(f'{ratio:.2g}'):f}".rstrip("0")


# ---- tables ----

def amount(n):
    return f"{n:,}" if n < 10000 else f"{n / 1e6:.3g}M" if n >= 1e6 else f"{n / 1e3:.3g}K"


def amounts(of, complete):
    """Size, steps and contacts in words; what the paper does not give is named if `complete`."""
    parts = [f"{amount(of[k])} {word}" for k, word in SIZES.items() if k in of and of[k]]
    if complete and not parts:
        parts = ["size not given"]
    for key in ("steps", "contacts"):
        if key in of:
            parts.append(f"{amount(of[key])} {key if of[key] != 1 else key[:-1]}")
        elif complete and key == "steps":
            parts.append("steps not given")
    return ", ".join(parts)


def reason_text(panel):
    """Why a panel is not shown, or not in full."""
    words = REASONS[panel["because"]]
    return words.removesuffix(" in full") if "figures" not in panel else words


def cells(panel):
    """What the paper has, what we have, and why they differ."""
    paper, notes = panel.get("paper", {}), []
    theirs = amounts(paper, True) + (f" ({paper['from']})" if "from" in paper else "") if paper or "figures" in panel else "–"
    ours = ", ".join(t for t in (amounts(panel["figures"], False), panel["source"]) if t) if "figures" in panel else "–"
    for key in ("shapes", "event"):
        if key in panel:
            notes.append(panel[key])
    if "because" in panel:
        notes.append(reason_text(panel) + (": " + panel["why"] if "why" in panel else ""))
    elif "why" in panel:
        notes.append(panel["why"])
    recorded = at_size.records()
    for name in panel.get("at_size", ()) if "at_size" not in panel.get("ours", {}) else ():
        done = f", {amount(recorded[name]['steps'])} of {amount(recorded[name]['of'])} steps so far" if name in recorded else ""
        notes.append(f"[at size](at-size.md): `tools/papers.py run {name}`{done}")
    return theirs, ours, "; ".join(notes)


def table_at_size(data):
    """The table of docs/src/gallery/at-size.md: every scene of tools/data/at-size.toml, and how far it has been run."""
    places, recorded = places_at_size(data), at_size.records()
    lines = [["scene", "figure", "in the paper", "here", "steps", "most contacts", "iterations per step (most)", "CPU s per step", "MiB (estimate)", "audit"]]
    for name, entry in at_size.entries().items():
        shown, r = places.get(name, []), recorded.get(name)
        paper = next((paper for _, paper in shown if paper), {})
        figure = "; ".join(dict.fromkeys(place for place, _ in shown))
        if r is None:
            lines.append([name, figure, amounts(paper, True), *["–"] * 7])
            continue
        elements = ", ".join(f"{amount(n)} {what}" for what, n in r["elements"].items())
        here = ", ".join(t for t in (f"{amount(r['vertices'])} vertices", elements, entry.get("instead"), entry.get("differs")) if t)
        steps = max(r["steps"], 1)
        lines.append([name, figure, amounts(paper, True), here, f"{amount(r['steps'])} of {amount(r['of'])}", amount(r["contacts"]),
                      f"{number(r['iterations'] / steps)} ({amount(r['most_iterations'])})", f"{number(r['cpu'] / steps)}",
                      f"{amount(r['memory_mib'])} ({r['memory_estimate'].replace(' once the shells lie on each other', ' in contact')})",
                      r["message"] or f"{r['audit']}, {amount(r['frames'])} frames"])
    return markdown(lines)


def table(rows):
    """The table of a page: a line for each row, and for rows of several panels one for each panel below."""
    lines = [["figure", "content", "state", "in the paper", "here", "where, or why not"]]
    for row in rows:
        word, more = state(row)
        text = more if word == "see" else word
        label = f"see {text}" if word == "see" else f"{word}: {more}" if more else word
        several = len(row["panels"]) > 1 and "same_as" not in row
        theirs, ours, note = cells(row["panels"][0]) if len(row["panels"]) == 1 else ("", "", "")
        if "unit_test" in row:
            note = f"unit test, `{row['unit_test'].partition(': ')[0]}`"
        where = "; ".join(t for t in (row.get("where", ""), note, row.get("rest", "")) if t)
        lines.append([row["figure"], row["content"], label, theirs, ours, where])
        for panel in row["panels"] if several else ():
            theirs, ours, note = cells(panel)
            own = "full" if panel.get("full") else ratio_text(panel) if "ratios" in panel else "no"
            lines.append(["", f"– {panel['name']}", own, theirs, ours, note])
    return markdown(lines)


def counts(pages):
    lines = [["document", "rows", "in full", "reduced", "in part", "not shown", "no experiment"]]
    for name, tag in PAPERS.items():
        states = [word for word in (state(row)[0] for row in pages[name]) if word in STATES]
        lines.append([f"{tag}: [page]({name}.md)", len(states), *(states.count(s) for s in STATES)])
    return markdown(lines)


def save(runs):
    RUNS.write_text(json.dumps({k: runs[k] for k in sorted(runs)}, indent=1, ensure_ascii=False) + "\n")


def at_size_page(data):
    """Both tables of docs/src/gallery/at-size.md."""
    return f"{table_at_size(data)}\n\nThe step of each run that took the longest, in seconds of wall time:\n\n{slowest_steps()}"


def slowest_steps():
    """The table of the longest step of every run at the papers' size."""
    lines = [["scene", "step", "s", "iterations", "contacts", "three longest phases, s", "steps of the solver cut by"]]
    for name in at_size.entries():
        if slow := at_size.records().get(name, {}).get("slowest"):
            phases = ", ".join(f"{PHASES.get(phase, phase)} {number(s)}" for phase, s in slow["phases"].items())
            cuts = ", ".join(f"{CUTS.get(what, what)} {amount(n)}" for what, n in slow["cuts"].items())
            lines.append([name, slow["step"], number(slow["seconds"]), amount(slow["iterations"]), amount(slow["contacts"]), phases, cuts or "–"])
    return markdown(lines)


def scenes_of(data):
    """What `measure` runs: the scenes of all rows, by their key."""
    panels = (panel for rows in data.values() for row in rows for panel in row.get("panels", [row]))
    return {key_of(panel["ours"]): panel["ours"] for panel in panels if "scene" in panel.get("ours", {})}


def places_at_size(data):
    """For each scene of tools/data/at-size.toml the figures that it shows, and what the papers print of them."""
    found = {}
    for name in PAPERS:
        for row in data[name]:
            for panel in row.get("panels", [row]):
                for scene in panel.get("at_size", ()):
                    place = f"{PAPERS[name].split('], ')[0].rstrip(']')}, {row['figure'].split(' <!--')[0]}]" + (f" {panel['name']}" if "name" in panel else "")
                    found.setdefault(scene, []).append((place, panel.get("paper", {})))
    return found


def load():
    return tomllib.loads((TOOLS / "data" / "gallery.toml").read_text())


def pages_of(data):
    """The rows of all pages; ends this script with all faults if there are any."""
    pages, faults = {name: [] for name in PAPERS}, []
    for name in PAPERS:
        for row in data[name]:
            try:
                pages[name].append(prepared(row, data[name]))
            except Fault as fault:
                faults.append(f"gallery.toml, {name}, {row['figure']}: {fault}")
    if faults:
        sys.exit("\n".join(faults))
    return pages


def write(check):
    data, runs = load(), records("gallery-runs")
    pages, unused = pages_of(data), set(runs) - set(scenes_of(data))
    if unused and check:
        sys.exit(f"no row shows {sorted(unused)}: run tools/gallery.py, which removes their records")
    if unused:
        save({key: run for key, run in runs.items() if key not in unused})
    for path, content in [(FOLDER / "index.md", counts(pages)), (FOLDER / "at-size.md", at_size_page(data)), *((FOLDER / f"{name}.md", table(rows)) for name, rows in pages.items())]:
        text = path.read_text()
        current = replaced(text, BEGIN, content, END)
        if not check:
            path.write_text(current)
        elif current != text:
            sys.exit(f"{path.relative_to(ROOT)} is out of date: run tools/gallery.py")


# ---- runs ----

def measured(binary, out, ours, seconds):
    """Runs a scene: its size, the steps that it has computed and the most contacts of any of them."""
    key = key_of(ours)
    path = ROOT / key.split()[0]
    meshes = ROOT / "testdata" / "data" / "ipc" if path.suffix == ".txt" else None
    folder = out / file_name(key)
    done = measure(scene_command(binary, path, folder, sets=ours.get("set", ()), meshes=meshes), seconds=seconds)
    reports = stats.reports(folder)
    if not reports or done.code and not done.stopped:
        sys.exit(f"{key}: {done.last_line()}")
    options = [o for s in ours.get("set", ()) for o in ("--set", s)] + (["--mesh-root", meshes] if meshes else [])
    tets = checked(binary, [path, *options])["tets"]
    bodies = stats.info(folder)["bodies"]
    return key, {
        "vertices": sum(b["vertices"] for b in bodies), "tets": tets, "steps": len(reports),
        "finished": done.code == 0 and not done.stopped,
        "unclean": stats.unconverged(reports), "contacts": stats.contacts(reports), "cpu": round(done.cpu, 1), "commit": commit(),
    }


def measure_all(binary, out, part, seconds, only_new):
    known = records("gallery-runs")
    for key, ours in scenes_of(load()).items():
        if part in key and not (only_new and key in known):
            key, found = measured(binary, out, ours, seconds)
            print(f"{key}: {found}", flush=True)
            # read and written after every run, so that an interrupted command keeps what it has done
            kept = records("gallery-runs") | {key: found}
            save(kept)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    kinds = parser.add_subparsers(dest="kind")
    running = kinds.add_parser("measure")
    running.add_argument("binary", type=lambda p: pathlib.Path(p).resolve())
    running.add_argument("out", type=lambda p: pathlib.Path(p).resolve())
    running.add_argument("part", nargs="?", default="")
    running.add_argument("--seconds", type=float, default=60, help="wall time for each run at most")
    running.add_argument("--new", action="store_true", help="only what has no record")
    args = parser.parse_args()
    if args.kind == "measure":
        measure_all(args.binary, args.out, args.part, args.seconds, args.new)
    else:
        write(args.check)


if __name__ == "__main__":
    main()
