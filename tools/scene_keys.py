#!/usr/bin/env python3
"""Writes the reference of scene keys, docs/src/scene-keys.md, from the JSON Schema docs/scene.schema.json.

    target/release/standoff schema > docs/scene.schema.json     # after a change of the types that read scenes
    tools/scene_keys.py                                         # writes the page
    tools/scene_keys.py --check                                 # exit code 1 if the page is out of date

`cargo test -p standoff-scene --test schema` checks the schema, lint.sh runs `--check`. Only Python's standard
library is used.
"""
import argparse, json, sys

from standoff_tools import ROOT

SCHEMA, PAGE = ROOT / "docs" / "scene.schema.json", ROOT / "docs" / "src" / "scene-keys.md"

HEAD = """# Reference of all keys

<!-- Written by tools/scene_keys.py from docs/scene.schema.json. Do not edit. -->

This page lists every table and key of a scene file with type, unit, default and meaning. It is generated from the JSON
Schema, which is generated from the types that read scene files, so that it cannot disagree with them.
[Scene files](scene-file.md) explains how the parts work together, with examples. A number may be given in another unit
as a string, such as `"5 mm"`.

"""

# definitions with a table of their own, in the order of the page: name, heading
TABLES = [
    ("TimeSettings", "`[time]`"), ("ContactSettings", "`[contact]`"), ("OrientationSettings", "`contact.orientation`"),
    ("FrictionSettings", "`[friction]`"), ("FrictionPair", "`[[friction.pairs]]`"), ("SolverSettings", "`[solver]`"),
    ("EndSettings", "`solver.end`"), ("DecompositionSettings", "`solver.decomposition`"),
    ("BarrierFreeSettings", "`solver.barrier_free`"), ("OutputSection", "`[output]`"),
    ("MaterialSection", "`[materials.NAME]`"), ("Relaxation", "`materials.NAME.relaxation`"),
    ("Plasticity", "`materials.NAME.plasticity`"), ("FibreSection", "`materials.NAME.fibres`"),
    ("AroundSection", "`fibres.around`"), ("ShellSection", "`materials.NAME.shell`"),
    ("OrthotropicSection", "`materials.NAME.shell.orthotropic`"), ("HalfSpaceSection", "`[[half_spaces]]`"),
    ("ObjectSection", "`[[objects]]`"), ("AxisAngle", "`objects.rotate` about an axis"), ("ArraySection", "`objects.array`"),
    ("FillSection", "`objects.fill`"),
    ("StartSection", "`objects.start`"), ("FixedSection", "`[[objects.fixed]]`"), ("MotionSection", "`[[objects.motion]]`"),
    ("TurnSection", "`objects.motion.rotation`"), ("UntilSection", "`until`"), ("BeyondSection", "`until.all_beyond`"),
    ("ForceSection", "`[[objects.forces]]`"), ("RegionSection", "Regions"), ("BoxSection", "`box` of a region"),
    ("SphereSection", "`sphere` of a region"), ("AttachmentSection", "`[[attachments]]`"),
    ("AnchorSection", "`attachments.to`"), ("StitchSection", "`[[stitches]]`"), ("TieSection", "`[[ties]]`"),
    ("JointSection", "`[[joints]]`"), ("InertialSection", "`objects.inertial`"), ("DriveSection", "`joints.drive`"), ("MimicSection", "`joints.mimic`"),
    ("JointSpringSection", "`joints.spring`"), ("TendonSection", "`[[tendons]]`"), ("RobotSection", "`[[robots]]`"),
    ("ExpectSection", "`[[expect]]`"), ("MinusSection", "`expect.minus`"), ("OgdenTerm", "`terms` of Ogden's law"),
]
# tables of which the key `kind` chooses one
KINDS = [
    ("Rubber", "`materials.NAME.rubber`", "A law of rubber is chosen by `kind`. [Elasticity](theory/elasticity.md#laws-of-rubber) has their formulas; \"Ī₁\" and \"Ī₂\" are the "
     "invariants of the deformation without its change of volume."),
    ("Shape", "Shapes", "A built-in shape is chosen by `kind`. [Shapes](shapes.md) describes their meshes."),
]


def text(value):
    """A description in one line, fit for a cell of a table."""
    return " ".join(value.split()).replace("|", "\\|")


def anchor(heading):
    kept = "".join(c for c in heading.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")


class Page:
    def __init__(self, schema):
        self.definitions, self.schema = schema["$defs"], schema
        self.headings = dict(TABLES) | {name: heading for name, heading, _ in KINDS}

    def name(self, reference):
        return reference.removeprefix("#/$defs/")

    def link(self, name):
        heading = self.headings[name]
        return f"[{heading}](#{anchor(heading)})"

    def choices(self, definition):
        """The words of an enumeration, or None."""
        options = definition.get("oneOf", [])
        return options if options and all("const" in o for o in options) else None

    def kind(self, schema):
        """What may be written, in a few words."""
        if "$ref" in schema:
            name = self.name(schema["$ref"])
            definition = self.definitions[name]
            if name in self.headings:
                return self.link(name)
            if options := self.choices(definition):
                return " or ".join(f'`"{o["const"]}"`' for o in options)
            return self.kind(definition)
        if "anyOf" in schema:
            kinds = [self.kind(s) for s in schema["anyOf"] if s.get("type") != "null"]
            return " or ".join(dict.fromkeys(kinds))
        if "oneOf" in schema:
            if options := self.choices(schema):
                return " or ".join(f'`"{o["const"]}"`' for o in options)
            return " or ".join(dict.fromkeys(self.kind(s) for s in schema["oneOf"]))
        types = schema.get("type", "string")
        types = [types] if isinstance(types, str) else list(types)
        types = [t for t in types if t != "null"]
        unit = f" ({schema['x-unit']})" if "x-unit" in schema else ""
        if "array" in types:
            items, least, most = schema.get("items", {}), schema.get("minItems"), schema.get("maxItems")
            item = self.kind(items).replace(unit, "")
            # 2 of 3 components are enough in two dimensions
            fixed = least and (least == most or (least, most) == (2, 3))
            count = f"{most} × " if fixed else "list of "
            return count + item + unit
        if "x-unit" in schema and "number" in types:
            return f"number{unit}"
        words = {"string": "text", "boolean": "true or false", "object": "table"}
        return " or ".join(words.get(t, t) for t in types)

    def default(self, key, schema, required):
        if key in required:
            return "required"
        value = schema.get("default")
        if value is None or isinstance(value, dict) or value in ("", []):
            return ""
        return f"`{json.dumps(value, ensure_ascii=False)}`"

    def table(self, schema):
        required = schema.get("required", [])
        lines = ["| key | value | default | meaning |", "|---|---|---|---|"]
        for key, value in schema["properties"].items():
            lines.append(f"| `{key}` | {self.kind(value)} | {self.default(key, value, required)} | "
                         f"{text(value.get('description', ''))} |")
        return "\n".join(lines) + "\n"

    def section(self, name, heading):
        definition = self.definitions[name]
        parts = [f"## {heading}\n", text(definition.get("description", "")) + "\n"]
        variants = [definition] if "properties" in definition else definition["oneOf"]
        parts += [self.table(v) for v in variants]
        # the words that its keys may have
        keys = {}
        for key, value in (p for v in variants for p in v["properties"].items()):
            found = [value] + value.get("anyOf", []) + [i for i in (value.get("items"),) if i]
            for reference in (s["$ref"] for s in found if "$ref" in s):
                if self.choices(self.definitions[self.name(reference)]):
                    keys.setdefault(reference, []).append(f"`{key}`")
        for reference, named in keys.items():
            options = self.choices(self.definitions[self.name(reference)])
            parts.append(f"Values of {' and '.join(dict.fromkeys(named))}:\n")
            parts.append("\n".join(f'- `"{o["const"]}"`: {text(o.get("description", ""))}' for o in options) + "\n")
        return "\n".join(parts)

    def kinds(self, name, heading, about):
        parts = [f"## {heading}\n", about + "\n"]
        for variant in self.definitions[name]["oneOf"]:
            kind = variant["properties"]["kind"]["const"]
            rest = {k: v for k, v in variant["properties"].items() if k != "kind"}
            parts.append(f'### `kind = "{kind}"`\n')
            parts.append(text(variant.get("description", "")) + "\n")
            if rest:
                parts.append(self.table(variant | {"properties": rest}))
        return "\n".join(parts)

    def whole(self):
        parts = [HEAD + "## Top level\n", self.table(self.schema)]
        options = self.choices(self.definitions["Preset"])
        parts.append("Values of `preset`:\n\n" + "\n".join(
            f'- `"{o["const"]}"`: {text(o.get("description", ""))}' for o in options) + "\n")
        parts += [self.section(name, heading) for name, heading in TABLES]
        return "\n".join(parts + [self.kinds(*kinds) for kinds in KINDS])

    def missing(self):
        """Definitions with keys that have no table on the page."""
        keyed = {n for n, d in self.definitions.items() if "properties" in d}
        return sorted(keyed - set(self.headings))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether the page is up to date")
    check = parser.parse_args().check
    page = Page(json.loads(SCHEMA.read_text()))
    if missing := page.missing():
        sys.exit(f"tools/scene_keys.py: add a heading in TABLES for {', '.join(missing)}")
    current = page.whole()
    if not check:
        PAGE.write_text(current)
    elif not PAGE.exists() or PAGE.read_text() != current:
        sys.exit(f"{PAGE.relative_to(ROOT)} is out of date: run tools/scene_keys.py")


if __name__ == "__main__":
    main()
