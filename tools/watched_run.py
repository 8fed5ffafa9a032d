#!/usr/bin/env python3
"""Measures what it costs a run to be watched in the viewer.

    tools/watched_run.py STANDOFF [SCENE] [--steps N] [--repeats N] [--threads N]

It runs the scene (scenes/codim/cloth-stack.toml by default) alternately alone and with `--view`, in the second case
while a client does what the page does: it requests the state of the run twice a second, what is new of the statistics,
and the newest frame with speeds. It prints wall and CPU seconds of every pair of runs, and the medians of
their ratios. The client's own work is not part of the CPU seconds. Only Python's standard library is used.
"""
import argparse, json, os, pathlib, re, signal, statistics, subprocess, tempfile, threading, time, urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Watcher(threading.Thread):
    """Requests what the page requests."""

    def __init__(self, url):
        super().__init__(daemon=True)
        self.url, self.done, self.shown, self.frames, self.stats = url, threading.Event(), None, 0, 0

    def get(self, path):
        with urllib.request.urlopen(self.url + path) as answer:
            return answer.read()

    def run(self):
        mesh = False
        while not self.done.is_set():
            try:
                run = json.loads(self.get("api/run"))
                if not mesh:
                    mesh = bool(self.get("api/mesh"))
                if run["stats_length"] > self.stats:
                    self.stats += len(self.get(f"api/stats?from={self.stats}"))
                if run["frames"][-1] != self.shown:
                    self.shown = run["frames"][-1]
                    self.get(f"api/frame/{self.shown}?arrays=velocity")
                    self.frames += 1
            except OSError:
                pass  # the run has not begun
            self.done.wait(0.5)


def measure(args, watched):
    """Wall and CPU seconds of a run, and the number of frames that were shown."""
    with tempfile.TemporaryDirectory() as folder:
        command = [args.standoff, "run", args.scene, "-o", folder + "/run"]
        command += ["--steps", str(args.steps)] if args.steps else []
        command += ["--threads", str(args.threads)] if args.threads else []
        command += ["--view", "--listen", "127.0.0.1:0"] if watched else []
        watcher, wall = None, None
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for line in process.stdout:
            if address := re.match(r"viewer: (\S+)", line):
                watcher = Watcher(address[1])
                watcher.start()
            if line.startswith("results in"):
                wall = time.perf_counter() - start
                if watched:
                    watcher.done.set()
                    watcher.join()
                    # the viewer stays until it is interrupted
                    time.sleep(0.1)
                    process.send_signal(signal.SIGINT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if wall is None or process.returncode != 0:
            raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
        return wall, usage.ru_utime + usage.ru_stime, watcher.frames if watcher else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("standoff")
    parser.add_argument("scene", nargs="?", default=str(ROOT / "scenes/codim/cloth-stack.toml"))
    parser.add_argument("--steps", type=int)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    walls, cpus = [], []
    for repeat in range(args.repeats):
        # the order alternates, so that a machine that becomes slower favours neither
        order = [False, True] if repeat % 2 == 0 else [True, False]
        found = {watched: measure(args, watched) for watched in order}
        (wall, cpu, _), (wall_watched, cpu_watched, frames) = found[False], found[True]
        walls.append(wall_watched / wall)
        cpus.append(cpu_watched / cpu)
        print(f"alone {wall:.2f} s, {cpu:.2f} CPU s; watched {wall_watched:.2f} s, {cpu_watched:.2f} CPU s, "
              f"{frames} frames shown", flush=True)
    print(f"watched / alone: wall {statistics.median(walls):.3f}, CPU {statistics.median(cpus):.3f} (medians)")


if __name__ == "__main__":
    main()
