#!/usr/bin/env python3
"""Says whether two builds compute the same: the same scenes by both, frames and statistics compared.

    tools/compare_builds.py NEW OLD                    # bits: every frame byte-equal, every statistic equal
    tools/compare_builds.py NEW OLD --quick            # a part of it, three minutes at most
    tools/compare_builds.py NEW OLD --tolerance        # for a change that has to change bits
    tools/compare_builds.py NEW OLD --only deck ipc/   # scenes whose name holds one of these

The scenes are those of `crates/cli/tests/scenes.rs`, shortened as tools/data/build-scenes.json says where they take long,
and the reference runs with their IPC scripts (of the folder `--shared`; skipped with a message where that
is absent), each by both solvers on one thread. Both builds run the scene files of the commit `--scenes`
(this checkout's files where that commit is unknown), so that a key that was renamed since is no difference.

Compared bit for bit: exit codes, the number of steps, the bytes of every frame, and of every step every
statistic but the seconds. A statistic that was renamed is listed in `RENAMED` below, an outcome in
`RENAMED_OUTCOMES`, one that went on purpose in `REMOVED`. Statistics that only NEW has are listed and are
no difference. Where the bytes of a frame differ, the arrays are read: `--arrays` accepts another encoding
of the same bits.

With `--tolerance` these have to hold: positions after each of the first ten steps within 1e-9 of the
diagonal l of the box of the first frame, and for each solver the iterations of all scenes together within
1 %. Some scenes amplify rounding, a rod that buckles say. Where positions are further apart, OLD runs twice
more, with a time step that is larger and smaller by its last bit: the distances count as rounding where
they are at most ten times as large as those between OLD and itself, which the table shows.

`--cache DIR` keeps the runs of OLD and uses them again. `--new-set KEY=VALUE` replaces a value in the runs
of NEW only, to see this program find a difference. Exit code 0: no difference; 1: at least one; 2: a build
or scene is missing. Only Python's standard library is used.
"""
import argparse, concurrent.futures, dataclasses, hashlib, io, json, math, os, pathlib, shutil, struct
import subprocess, sys, tarfile, tempfile, time, zlib

from standoff_tools import ROOT, data, stats
from standoff_tools.frames import raw_arrays, raw_positions
from standoff_tools.run import measure, scene_command
from standoff_tools.scenes import chosen
from standoff_tools.tables import head, row

METHODS = ("barrier", "barrier-free")
SCENES = data("build-scenes")
SHORTENED = {entry["name"]: entry for entry in SCENES["shortened"]}

# statistics renamed since, by their old name; of nested ones the path with dots
RENAMED = {}
# values of `outcome` renamed since
RENAMED_OUTCOMES = {}
# statistics that went on purpose
REMOVED = set()


def shortened(name, method, quick):
    """The number of steps of a scene by a solver (0: not at all; None: all), and its replaced values. Scenes that are not listed run in full."""
    entry = SHORTENED.get(name, {})
    steps = entry.get("quick" if quick else "full")
    if isinstance(steps, list):
        steps = steps[METHODS.index(method)]
    return steps, entry.get("sets", [])


@dataclasses.dataclass
class Job:
    """One scene by one solver. `arguments` are its file and what else the command line says."""

    scene: str
    method: str
    steps: int | None
    sets: list
    arguments: list

    def command(self, binary, out, more_sets=()):
        path, *options = self.arguments
        sets = ("output.every=1", "output.checkpoint_every=0", *self.sets, *more_sets)
        return scene_command(binary, path, out, sets=sets, steps=self.steps, options=(*options, "--solver", self.method))


class Run:
    """What a run left in its folder."""

    def __init__(self, folder):
        self.folder = folder
        info = json.loads((folder / "compare.json").read_text())
        self.code, self.error, self.cpu, self.peak = (info[k] for k in ("code", "error", "cpu", "peak"))
        self.reports = stats.reports(folder)
        self.frames = sorted((folder / "frames").glob("*.vtu")) if (folder / "frames").is_dir() else []

    def iterations(self):
        return stats.iterations(self.reports)


def execute(command, folder, limit):
    """Runs a command with at most `limit` CPU seconds; what it used goes beside its results."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    done = measure(command, cpu_seconds=limit)
    folder.mkdir(exist_ok=True)
    (folder / "compare.json").write_text(json.dumps({
        "code": done.code, "error": done.error[-2000:], "cpu": done.cpu, "peak": done.peak_mib}))
    return Run(folder)


def flat(value, path=""):
    """Values of nested objects by their path with dots."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, f"{path}.{key}" if path else key)
    else:
        yield path, value


def statistics(report, old):
    """What is compared of a step's report; of an old one under its new names."""
    found = {}
    for key, value in flat(report):
        if key.startswith("seconds.") or key == "seconds" or old and key in REMOVED:
            continue
        if old:
            key = RENAMED.get(key, key)
            if key == "outcome":
                value = RENAMED_OUTCOMES.get(value, value)
        found[key] = value
    return found


def ends_alike(new, old):
    """How the ends of two runs differ, as a list of sentences."""
    faults = []
    if new.code != old.code:
        what = new.error.splitlines()[-1:] or old.error.splitlines()[-1:]
        faults.append(f"exit code {new.code}, was {old.code}: {''.join(what)[:160]}")
    if len(new.reports) != len(old.reports):
        faults.append(f"{len(new.reports)} steps, were {len(old.reports)}")
    return faults


def compare_reports(new, old):
    """The difference of the first step whose statistics differ, as sentences, and names of statistics that only NEW has."""
    added = set()
    for a, b in zip(new.reports, old.reports):
        faults, x, y = [], statistics(a, False), statistics(b, True)
        added |= x.keys() - y.keys()
        gone = y.keys() - x.keys()
        if gone:
            faults.append(f"step {b['step']}: no statistic {', '.join(sorted(gone))}")
        # NaN and null are equal to themselves: compared as they are written
        other = [k for k in x.keys() & y.keys() if json.dumps(x[k]) != json.dumps(y[k])]
        if other:
            k = min(other)
            faults.append(f"step {b['step']}: {k} is {x[k]!r}, was {y[k]!r}"
                          + (f" ({len(other) - 1} more statistics)" if len(other) > 1 else ""))
        if faults:
            return faults, added
    return [], added


def compare_frames(new, old, accept_encoding):
    """The difference of the first frame that differs, as sentences."""
    faults, encoded = [], 0
    if [f.name for f in new.frames] != [f.name for f in old.frames]:
        faults.append(f"{len(new.frames)} frames, were {len(old.frames)}, or other names")
    for a, b in zip(new.frames, old.frames):
        if a.read_bytes() == b.read_bytes():
            continue
        try:
            x, y = raw_arrays(a), raw_arrays(b)
        except (ValueError, KeyError, struct.error, zlib.error) as error:
            faults.append(f"{a.name} differs and cannot be read: {error}")
            break
        other = [k for k in y if x.get(k) != y[k]]
        if other:
            faults.append(f"{a.name}: {', '.join(sorted(other))} differ{'s' if len(other) == 1 else ''}")
            break
        encoded += 1
    if encoded and not accept_encoding:
        faults.append(f"{encoded} frames hold the same arrays in other bytes (--arrays accepts that)")
    return faults


def compare_bits(new, old, accept_encoding):
    """Differences as sentences, and names of statistics that only NEW has."""
    faults, added = compare_reports(new, old)
    return ends_alike(new, old) + faults + compare_frames(new, old, accept_encoding), added


# positions of NEW and OLD may differ by so many times as much as those of OLD and itself
AMPLIFIED = 10.0


def compare_within_tolerance(new, old, rounded):
    """Differences as sentences, the largest distance over the diagonal, and after which step it was;
    `rounded` runs OLD with another rounding. Also a remark."""
    faults = ends_alike(new, old)
    if not old.frames:
        return faults, 0.0, 0, ""
    worst, at, more = distance(new, old)
    faults += more
    if worst <= 1e-9 or more:
        return faults, worst, at, ""
    own = max((distance(run, old)[0] for run in rounded()), default=0.0)
    if worst <= AMPLIFIED * own:
        return faults, worst, at, f"amplifies rounding: OLD is {own:.1e} l apart from itself"
    return faults + [f"positions {worst:.1e} l apart after step {at}, OLD from itself {own:.1e}"], worst, at, ""


def distance(new, old):
    """The largest distance over the diagonal in the first ten steps, after which step it was, and what
    cannot be compared."""
    faults = []
    start = raw_positions(old.frames[0])
    diagonal = math.dist([min(start[k::3]) for k in range(3)], [max(start[k::3]) for k in range(3)])
    worst, at = 0.0, 0
    for step in range(min(11, len(new.frames), len(old.frames))):
        x, y = raw_positions(new.frames[step]), raw_positions(old.frames[step])
        if len(x) != len(y):
            faults.append(f"frame {step}: {len(x) // 3} points, were {len(y) // 3}")
            break
        far = max((math.dist(x[k:k + 3], y[k:k + 3]) for k in range(0, len(x), 3)), default=0.0) / diagonal
        # NaN is a difference, too
        if not far <= worst:
            worst, at = far, step
    return worst, at, faults


def scene_files(args, scratch):
    """The folder of scene files that both builds run."""
    if args.scenes and pathlib.Path(args.scenes).is_dir():
        return pathlib.Path(args.scenes).resolve()
    packed = subprocess.run(["git", "-C", str(ROOT), "archive", args.scenes, "scenes"], capture_output=True)
    if packed.returncode:
        print(f"commit {args.scenes} is not here: the scene files of this checkout are run", file=sys.stderr)
        return ROOT / "scenes"
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(scratch, filter="data")
    return scratch / "scenes"


def jobs(args, scenes):
    """All runs, longest first as far as that is known."""
    found = []

    def add(name, steps, arguments):
        if not chosen(name, args.only):
            return
        for method in args.solver:
            limit, sets = shortened(name, method, args.quick)
            if limit != 0:
                found.append(Job(name, method, limit if limit is not None else steps, sets, arguments))

    for path in sorted(scenes.rglob("*.toml")):
        add(path.relative_to(scenes).with_suffix("").as_posix(), None, [path])
    reference, meshes = args.shared / "reference" / "ipc", args.shared / "data" / "ipc"
    if reference.is_dir() and meshes.is_dir():
        for folder in sorted(reference.iterdir()):
            steps = json.loads((folder / "stats.json").read_text())["steps"]
            add(f"ipc/{folder.name}", steps, [folder / "scene.txt", "--mesh-root", meshes])
    else:
        print(f"reference runs are skipped: {reference} is absent (--shared)", file=sys.stderr)
    listed = {j.scene for j in found}
    rank = {name: k for k, name in enumerate(n for n in SCENES["longest"] if n in listed)}
    return sorted(found, key=lambda j: rank.get(j.scene, len(rank)))


def cached(job, binary, cache, limit):
    """The run of OLD, from the cache where it is there."""
    key = hashlib.sha256()
    key.update(json.dumps(job.command("", "")).encode())
    for path in map(pathlib.Path, map(str, job.arguments)):
        if path.is_file():
            key.update(path.read_bytes())
    folder = cache / key.hexdigest()[:24]
    if (folder / "compare.json").exists():
        return Run(folder)
    scratch = folder.with_suffix(f".{os.getpid()}")
    execute(job.command(binary, scratch), scratch, limit)
    try:
        scratch.rename(folder)
    except OSError:  # another process was faster
        shutil.rmtree(scratch, ignore_errors=True)
    return Run(folder)


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("old", type=pathlib.Path, help="a build of the commit to compare with")
    parser.add_argument("--only", nargs="*", default=[], metavar="PART", help="scenes whose name holds this")
    parser.add_argument("--solver", nargs="*", default=METHODS, choices=METHODS)
    parser.add_argument("--quick", action="store_true", help="fewer scenes and steps")
    parser.add_argument("--tolerance", action="store_true", help="compare positions and iterations within bounds")
    parser.add_argument("--arrays", action="store_true", help="frames may be encoded otherwise")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--scenes", default="0442017", help="commit or folder of the scene files")
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT / "testdata",
                        help="folder with reference/ipc and data/ipc")
    parser.add_argument("--cache", type=pathlib.Path, help="folder where the runs of OLD are kept")
    parser.add_argument("--new-set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for equal runs, too")
    parser.add_argument("--limit", type=int, default=120, help="CPU seconds of one run")
    return parser.parse_args()


def both(args, job, scratch, cache):
    """A scene by both builds: the job, both runs, and how they differ."""
    place = scratch / "runs" / job.scene / job.method
    if cache:
        old = cached(job, args.old, cache, args.limit)
    else:
        old = execute(job.command(args.old, place / "old"), place / "old", args.limit)
    new = execute(job.command(args.new, place / "new", args.new_set), place / "new", args.limit)
    added, worst, at, remark = set(), 0.0, 0, ""

    def rounded():
        h = old.reports[0]["time"]
        for k, other in enumerate((math.nextafter(h, 0.0), math.nextafter(h, 1.0))):
            sets = [f"time.step={other!r}"]
            yield execute(job.command(args.old, place / f"own{k}", sets), place / f"own{k}", args.limit)

    if args.tolerance:
        faults, worst, at, remark = compare_within_tolerance(new, old, rounded)
    else:
        faults, added = compare_bits(new, old, args.arrays)
    if old.code < 0 or (not old.reports and old.code != 2):
        faults.append(f"OLD ended with {old.code} after {len(old.reports)} steps: nothing to compare with")
    new.frames = old.frames = len(new.frames)
    shutil.rmtree(place, ignore_errors=True)
    return job, new, old, faults, added, worst, at, remark


def main():
    args = arguments()
    args.shared = args.shared.resolve()
    for binary in (args.new, args.old):
        if not binary.is_file():
            print(f"{binary} is not a file", file=sys.stderr)
            return 2
    started = time.time()
    with tempfile.TemporaryDirectory(prefix="compare-builds-") as scratch:
        scratch = pathlib.Path(scratch)
        todo = jobs(args, scene_files(args, scratch))
        if not todo:
            print("no scene to compare", file=sys.stderr)
            return 2
        cache = None
        if args.cache:
            cache = args.cache / hashlib.sha256(args.old.read_bytes()).hexdigest()[:16]
            cache.mkdir(parents=True, exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            return report(args, pool.map(lambda job: both(args, job, scratch, cache), todo), len(todo), started)


def show(args, job, new, old, faults, worst, remark):
    """Prints what was found of a scene: every scene within a tolerance, else those that differ, or all with `--verbose`."""
    a, b = new.iterations(), old.iterations()
    verdict = "; ".join(faults) or remark
    if args.tolerance:
        row(job.scene, job.method, len(new.reports), a, b, f"{a / max(b, 1):.3f}", f"{worst:.1e}", verdict)
    elif faults or args.verbose:
        print(f"{'DIFFERENT' if faults else 'equal':9} {job.scene:40} {job.method:12} {len(new.reports):4} steps "
              f"{a:6} iterations  {new.cpu:6.1f} s, were {old.cpu:.1f}  {verdict}", flush=True)


def report(args, results, count, started):
    """Prints a table and the verdict; the exit code."""
    if args.tolerance:
        head("scene", "solver", "steps", "iterations", "were", "ratio", "largest distance of ten steps / l", "")
    different, added, frames, steps = [], set(), 0, 0
    iterations = {m: [0, 0] for m in METHODS}
    cpu, peak = [0.0, 0.0], [0.0, 0.0]
    for job, new, old, faults, more, worst, at, remark in results:
        added |= more
        frames += new.frames
        steps += len(new.reports)
        for k, run in enumerate((new, old)):
            iterations[job.method][k] += run.iterations()
            cpu[k] += run.cpu
            peak[k] = max(peak[k], run.peak)
        if faults:
            different.append(f"{job.scene} {job.method}")
        show(args, job, new, old, faults, worst, remark)
    for method, (a, b) in iterations.items():
        off = abs(a / b - 1) if b else 0.0
        if args.tolerance:
            print(f"\n{method}: {a} iterations, were {b}: {100 * (a - b) / max(b, 1):+.2f} %", end="")
            if off > 0.01:
                different.append(f"iterations of {method}")
    print(f"\n{count} runs, {steps} steps, {frames} frames in {time.time() - started:.0f} s; "
          f"CPU {cpu[0]:.0f} s, were {cpu[1]:.0f}; largest memory {peak[0]:.0f} MiB, was {peak[1]:.0f}")
    if added:
        print(f"statistics that only NEW has: {', '.join(sorted(added))}")
    if different:
        print(f"{len(different)} different: {'; '.join(different)}")
        return 1
    print("within the tolerance" if args.tolerance else "no difference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
