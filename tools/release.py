#!/usr/bin/env python3
"""What a release needs, checked and filled in.

    tools/release.py check                  versions, metadata and content of the crates, workflows, recipes
    tools/release.py check --tag v0.1.0     the same for a release: also change log, links and the viewer's page
    tools/release.py check --binary FILE    also the size of a stripped program, against docs/src/releasing.md
    tools/release.py links URL              writes the repository's address into all metadata
    tools/release.py recipes DIR URL SUMS   writes conda recipe and Homebrew formula with version and checksums

`check` prints what is wrong and fails then. It reads workflows only where PyYAML is installed, and says so otherwise."""
import argparse, json, re, subprocess, sys, tomllib
from pathlib import Path

from standoff_tools import ROOT

VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
PAGE = ROOT / "docs/src/releasing.md"
#: Files with the version, and how it stands there.
VERSIONS = {
    "CITATION.cff": r"^version: (\S+)",
    "README.md": r"version = \{([^}]+)\}",
    "crates/view/web/package.json": r'"version": "([^"]+)"',
}
#: Largest packed crate that crates.io takes, bytes.
CRATE_LIMIT = 10_000_000


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def packages():
    """The crates of the workspace that are published."""
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1", "--locked"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [p for p in json.loads(told.stdout)["packages"] if p["publish"] is None]


def check_versions(tag):
    for name, pattern in VERSIONS.items():
        found = re.search(pattern, read(name), re.MULTILINE)
        if found is None or found[1] != VERSION:
            yield f"{name}: version {found and found[1]}, not {VERSION}"
    for name, entry in tomllib.loads(read("Cargo.toml"))["workspace"]["dependencies"].items():
        if name.startswith("standoff") and isinstance(entry, dict) and entry.get("version", VERSION) != VERSION:
            yield f"Cargo.toml: {name} {entry['version']}, not {VERSION}"
    if tag is not None and tag != f"v{VERSION}":
        yield f"the tag {tag} is not v{VERSION}"
    if tag is not None and f"\n## [{VERSION}]" not in read("CHANGELOG.md"):
        yield f"CHANGELOG.md: no section [{VERSION}]"


def check_crate(package, tag):
    name, folder = package["name"], Path(package["manifest_path"]).parent
    for field in ["description", "license", "readme", "documentation", *(["repository"] if tag else [])]:
        if not package[field]:
            yield f"{name}: no {field}"
    if package["version"] != VERSION:
        yield f"{name}: version {package['version']}, not {VERSION}"
    command = ["cargo", "package", "--list", "--allow-dirty", "--locked", "-p", name]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        yield f"{name}: cannot be packed: {listed.stderr.strip()}"
        return
    files = listed.stdout.split()
    if "README.md" not in files or "Cargo.toml" not in files or not any(f.startswith("src/") for f in files):
        yield f"{name}: the package lacks README.md, Cargo.toml or src"
    # packed files are smaller than this
    size = sum((folder / f).stat().st_size for f in files if (folder / f).is_file())
    if size > CRATE_LIMIT:
        yield f"{name}: {size} bytes before compression, more than {CRATE_LIMIT}"
    if tag and name == "standoff-view" and "web/dist/index.html" not in files:
        yield f"{name}: without the page; run `npm ci && npm run build` in crates/view/web"


def check_steps(where, job):
    for step in job.get("steps", []):
        if ("run" in step) == ("uses" in step):
            yield f"{where}: a step has neither or both of run and uses"
        if "uses" in step and "@" not in step["uses"] and not step["uses"].startswith("./"):
            yield f"{where}: {step['uses']} without a version"
        script = re.sub(r"\$\{\{.*?\}\}", "value", step.get("run", ""))
        told = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True)
        if told.returncode:
            yield f"{where}: {told.stderr.strip()}"


def check_workflow(path):
    import yaml

    text = path.read_text(encoding="utf-8")
    try:
        workflow = yaml.safe_load(text)
    except yaml.YAMLError as error:
        yield f"{path.name}: {error}"
        return
    jobs = workflow.get("jobs") or {}
    # YAML reads the key `on` as true
    if not jobs or not (workflow.get("on") or workflow.get(True)):
        yield f"{path.name}: no jobs, or nothing starts them"
    for name, job in jobs.items():
        needs = job.get("needs", [])
        for needed in [needs] if isinstance(needs, str) else needs:
            if needed not in jobs:
                yield f"{path.name}: {name} needs {needed}, which is not there"
        if "runs-on" not in job or not job.get("steps"):
            yield f"{path.name}: {name} has no runs-on or no steps"
        yield from check_steps(f"{path.name}: {name}", job)
    # the files of this repository that a workflow runs
    for file in re.findall(r"(?:tools|packaging)/[\w/.-]+\.(?:py|sh)", text):
        if not (ROOT / file).is_file():
            yield f"{path.name}: {file} is not there"


def check_workflows():
    try:
        import yaml  # noqa: F401
    except ImportError:
        print("not checked: workflows, because PyYAML is not installed")
        return
    for path in sorted((ROOT / ".github/workflows").glob("*.yml")):
        yield from check_workflow(path)


def check_recipes():
    for line in read("packaging/Dockerfile").splitlines():
        words = line.split()
        if words[:1] == ["FROM"] and words[1].partition(":")[2] in ("", "latest"):
            yield f"packaging/Dockerfile: {words[1]} without a version"
        if words[:1] == ["COPY"] and not words[1].startswith("--from"):
            for name in words[1:-1]:
                if not (ROOT / name).exists():
                    yield f"packaging/Dockerfile: {name} is not there"
    for name, text in recipes("https://example.org/standoff", {"any": "0" * 64}).items():
        if left := re.findall(r"@\w+@", text):
            yield f"{name}: nothing is written for {', '.join(left)}"


def check_binary(file):
    """The size in MB that the page states for the stripped program, within 10 %."""
    stated = re.search(r"stripped program has ([\d.]+) MB", PAGE.read_text(encoding="utf-8"))
    size = Path(file).stat().st_size / 1e6
    print(f"{file}: {size:.2f} MB")
    if stated is None or not 0.9 < size / float(stated[1]) < 1.1:
        yield f"{PAGE.name} states {stated and stated[1]} MB for the stripped program, which has {size:.2f} MB"


def recipes(url, sums):
    """The recipes by name, filled in. `sums` has the checksum of every file, or of `any`."""
    def checksum(match):
        return sums.get(match[1].replace("VERSION", VERSION)) or sums.get("any") or match[0]

    out = {}
    for name in ("conda/recipe.yaml", "homebrew/standoff.rb"):
        text = read(f"packaging/{name}").replace("@VERSION@", VERSION).replace("@URL@", url)
        out[Path(name).name] = re.sub(r"@SHA256:([\w.-]+)@", checksum, text)
    return out


def write_recipes(folder, url, file):
    sums = dict(reversed(line.split()) for line in Path(file).read_text().splitlines())
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, text in recipes(url.rstrip("/"), {f.lstrip("*"): s for f, s in sums.items()}).items():
        if "@SHA256" in text:
            sys.exit(f"{name}: a checksum is missing in {file}")
        (Path(folder) / name).write_text(text, encoding="utf-8")


def put(text, pattern, line):
    """Replaces the line that matches, or adds it behind the one with the licence."""
    replaced, count = re.subn(pattern, lambda _: line, text, count=1, flags=re.MULTILINE)
    return replaced if count else re.sub(r"^license.*$", lambda m: f"{m[0]}\n{line}", text, count=1, flags=re.MULTILINE)


def write_links(url):
    url = url.rstrip("/")
    if not re.fullmatch(r"https://[\w.-]+/[\w./-]+", url):
        sys.exit(f"{url}: not an address as https://HOST/OWNER/NAME")
    edits = {"Cargo.toml": (r"^repository = .*$", f'repository = "{url}"')}
    for package in packages():
        name = str(Path(package["manifest_path"]).relative_to(ROOT))
        edits[name] = (r"^repository.*$", "repository.workspace = true")
    for name, (pattern, line) in edits.items():
        (ROOT / name).write_text(put(read(name), pattern, line), encoding="utf-8")
    citation = re.sub(r"^repository-code: .*\n", "", read("CITATION.cff"), flags=re.MULTILINE)
    (ROOT / "CITATION.cff").write_text(citation.replace("license:", f'repository-code: "{url}"\nlicense:', 1))
    project = re.sub(r"^\[project\.urls\]\n(?:\w+ = .*\n)+\n", "", read("python/pyproject.toml"), flags=re.MULTILINE)
    urls = f'[project.urls]\nRepository = "{url}"\nIssues = "{url}/issues"\nChangelog = "{url}/blob/main/CHANGELOG.md"\n\n'
    (ROOT / "python/pyproject.toml").write_text(project.replace("[project.scripts]", urls + "[project.scripts]", 1))
    book = re.sub(r"^git-repository-url = .*\n", "", read("docs/book.toml"), flags=re.MULTILINE)
    (ROOT / "docs/book.toml").write_text(book.rstrip("\n") + f'\ngit-repository-url = "{url}"\n')


def check(tag, binary):
    faults = [*check_versions(tag), *check_workflows(), *check_recipes()]
    crates = packages()
    for package in crates:
        faults += check_crate(package, tag)
    if binary:
        faults += check_binary(binary)
    print("\n".join(faults) or f"release {VERSION}: {len(crates)} crates, no findings")
    return bool(faults)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("check")
    one.add_argument("--tag")
    one.add_argument("--binary")
    commands.add_parser("links").add_argument("url")
    three = commands.add_parser("recipes")
    for name in ("folder", "url", "sums"):
        three.add_argument(name)
    args = parser.parse_args()
    if args.command == "check":
        sys.exit(check(args.tag, args.binary))
    if args.command == "links":
        write_links(args.url)
    else:
        write_recipes(args.folder, args.url, args.sums)


if __name__ == "__main__":
    main()
