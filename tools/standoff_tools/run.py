"""Starts programs, Standoff above all, and says how long they took and how they ended."""
import dataclasses, os, re, resource, signal, subprocess, sys, tempfile, threading, time

from . import ROOT


class Refused(Exception):
    """`standoff check` cannot read a scene."""


@dataclasses.dataclass
class Finished:
    """How a program ended: exit code (negative for a signal), what it printed on both streams, seconds, largest memory, and whether it was stopped."""

    code: int
    printed: str
    error: str
    wall: float
    cpu: float
    peak_mib: float
    stopped: bool = False

    def last_line(self):
        """The last line of the error text, empty where there is none."""
        return (self.error.splitlines() or [""])[-1]


def measure(command, *, seconds=None, end_by=signal.SIGKILL, grace=None, cpu_seconds=None, on_start=None, apart=False, env=None, cwd=None):
    """Runs a command to its end. After `seconds` of wall time it gets the signal `end_by`, and again after `grace` seconds more; after `cpu_seconds` of CPU
    time the system ends it. `on_start` is called with the process once it runs. A process `apart` is not interrupted by Ctrl-C. CPU seconds are user and
    system time."""
    bound = (lambda: resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))) if cpu_seconds else None
    late = threading.Event()
    # the output goes to a file: two pipes that are read one after the other could block the program
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        start = time.perf_counter()
        process = subprocess.Popen([str(c) for c in command], stdout=output, stderr=subprocess.PIPE, text=True, errors="replace", env=env, cwd=cwd,
                                   preexec_fn=bound, start_new_session=apart)

        def end():
            late.set()
            process.send_signal(end_by)

        timers = [threading.Timer(wait, end) for wait in (seconds, seconds and grace and seconds + grace) if wait]
        for timer in timers:
            timer.start()
        if on_start:
            on_start(process)
        error = process.stderr.read()
        process.stderr.close()
        # unlike `wait`, this says what this process alone has used
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        for timer in timers:
            timer.cancel()
        wall = time.perf_counter() - start
        output.seek(0)
        return Finished(process.returncode, output.read(), error.strip(), wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024,
                        late.is_set())


def printed_by(command, **options):
    """What a command prints, and its CPU seconds; ends this script where the command fails."""
    done = measure(command, **options)
    if done.error:
        print(done.error, file=sys.stderr)
    if done.code:
        sys.exit(f"{command[0]}: exit code {done.code}")
    return done.printed, done.cpu


def scene_command(binary, scene, out, *, sets=(), steps=None, threads=1, meshes=None, options=()):
    """The command that runs a scene into the folder `out` with replaced values; `meshes` is the folder of the meshes of IPC scenes. `threads=None`
    takes all cores."""
    command = [binary, "run", scene, "-o", out, "--force", "--quiet"]
    if threads is not None:
        command += ["--threads", threads]
    if steps is not None:
        command += ["--steps", steps]
    if meshes is not None:
        command += ["--mesh-root", meshes]
    for value in sets:
        command += ["--set", value]
    return [str(c) for c in (*command, *options)]


def run_scene(binary, scene, out, *, sets=(), steps=None, threads=1, meshes=None, options=(), **limits):
    """Runs a scene into the folder `out`. See `scene_command` for what is run and `measure` for the limits."""
    return measure(scene_command(binary, scene, out, sets=sets, steps=steps, threads=threads, meshes=meshes, options=options), **limits)


def checked(binary, arguments):
    """What `standoff check` says of a scene: steps, tetrahedra, all elements of the deformable objects, and the estimate of the memory."""
    printed = measure([binary, "check", *arguments])
    lines = re.findall(r"^([^\n]*?)(?: \((\d+) copies\))?: ([^,:\n]+), (.*)", printed.printed, re.M)
    elements = {}
    for _, copies, role, rest in lines:
        for number, what in re.findall(r"(\d+) (tetrahedra|triangles|segments|particles)\b", rest) if role not in ("obstacle", "rigid") else ():
            if int(number):
                elements[what] = elements.get(what, 0) + int(copies or 1) * int(number)
    steps, memory = re.search(r"^steps +(\d+) of", printed.printed, re.M), re.search(r"^memory, about +(.*)", printed.printed, re.M)
    if not steps:
        raise Refused((printed.error or printed.printed).strip())
    return {"of": int(steps[1]), "tets": elements.get("tetrahedra", 0), "elements": elements,
            "memory": memory[1] if memory else "", "starts": printed.code == 0}


def file_name(text):
    """A text as the name of a file or folder."""
    return "".join(c if c.isalnum() or c in "-." else "_" for c in text)


def commit():
    """The commit of this checkout in seven digits."""
    command = ["git", "-C", ROOT, "rev-parse", "--short=7", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()
