// Bundles the page into dist/, from where ../build.rs embeds it in the program. That script calls this one in a copy of
// this folder; `npm run build` calls it here.
import { build } from "esbuild";
import { copyFile, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const dist = new URL("dist/", import.meta.url);
await mkdir(dist, { recursive: true });
for (const name of await readdir(dist)) {
  // that one is in the repository
  if (name !== ".gitignore") await rm(new URL(name, dist), { recursive: true });
}
const { metafile } = await build({
  entryPoints: ["src/main.ts"],
  absWorkingDir: fileURLToPath(new URL(".", import.meta.url)),
  outdir: fileURLToPath(dist),
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
});

// the licences of what is in the bundle
const inputs = Object.keys(metafile.inputs).map((f) => f.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1]);
let text = "The viewer's page contains the following packages.\n";
for (const name of [...new Set(inputs.filter(Boolean))].sort()) {
  const folder = new URL(`node_modules/${name}/`, import.meta.url);
  const { version, license } = JSON.parse(await readFile(new URL("package.json", folder), "utf8"));
  const file = (await readdir(folder)).find((f) => /^licen[cs]e/i.test(f));
  if (!file) throw new Error(`${name} has no licence file`);
  text += `\n== ${name} ${version} (${license})\n\n${(await readFile(new URL(file, folder), "utf8")).trim()}\n`;
}
await writeFile(new URL("licences.txt", dist), text);
await copyFile(new URL("src/index.html", import.meta.url), new URL("index.html", dist));
const bytes = Object.entries(metafile.outputs).map(([file, { bytes }]) => `${file} ${(bytes / 1024).toFixed(0)} KiB`);
console.log(bytes.join(", "));
