#!/usr/bin/env python3
"""Measures what it costs a run to be watched in the viewer.

    tools/watched_run.py STANDOFF [SCENE] [--steps N] [--repeats N] [--threads N]

It runs the scene (scenes/codim/cloth-stack.toml by default) alternately alone and with `--view`, in the second case
while a client does what the page does: it requests the state of the run twice a second, what is new of the statistics,
and the newest frame with speeds. It prints wall and CPU seconds of every pair of runs, and the medians of
their ratios; on a machine that does other work these vary more than the viewer costs. So it also prints, on Linux, the CPU seconds of
the viewer's own threads and their largest share of those of a run. The client's own work is not part of the CPU seconds. Only
Python's standard library is used.
"""
import argparse, json, os, pathlib, re, signal, statistics, subprocess, tempfile, threading, time, urllib.request

from standoff_tools import ROOT


class Watcher(threading.Thread):
    """Requests what the page requests."""

    def __init__(self, url, process):
        super().__init__(daemon=True)
        self.url, self.done, self.shown, self.frames, self.stats = url, threading.Event(), None, 0, 0
        self.tasks, self.threads = pathlib.Path(f"/proc/{process}/task"), {}

    def measure(self):
        """Notes the CPU seconds of the viewer's threads, some of which end before the run."""
        for task in self.tasks.glob("*"):
            try:
                if (task / "comm").read_text().startswith(("viewer", "tokio")):
                    # nanoseconds on a processor come first
                    self.threads[task.name] = 1e-9 * int((task / "schedstat").read_text().split()[0])
            except OSError:
                pass  # it has just ended

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
            self.measure()
            self.done.wait(0.5)
        self.measure()


def measure(args, watched):
    """Wall and CPU seconds of a run, those of the viewer's threads, and the number of frames that were shown."""
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
                watcher = Watcher(address[1], process.pid)
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
        own, frames = (sum(watcher.threads.values()), watcher.frames) if watcher else (0, 0)
        return wall, usage.ru_utime + usage.ru_stime, own, frames


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("standoff")
    parser.add_argument("scene", nargs="?", default=str(ROOT / "scenes/codim/cloth-stack.toml"))
    parser.add_argument("--steps", type=int)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    walls, cpus, shares = [], [], []
    for repeat in range(args.repeats):
        # the order alternates, so that a machine that becomes slower favours neither
        order = [False, True] if repeat % 2 == 0 else [True, False]
        found = {watched: measure(args, watched) for watched in order}
        (wall, cpu, _, _), (wall_watched, cpu_watched, own, frames) = found[False], found[True]
        walls.append(wall_watched / wall)
        cpus.append(cpu_watched / cpu)
        shares.append(own / cpu_watched)
        print(f"alone {wall:.2f} s, {cpu:.2f} CPU s; watched {wall_watched:.2f} s, {cpu_watched:.2f} CPU s, "
              f"{own:.4f} of them for the viewer, {frames} frames shown", flush=True)
    print(f"watched / alone: wall {statistics.median(walls):.3f}, CPU {statistics.median(cpus):.3f} (medians)")
    print(f"the viewer's threads: at most {max(shares):.4f} of the CPU seconds of a run")


if __name__ == "__main__":
    main()
