// The viewer's page: asks the server what there is, twice a second while a run goes on, and shows it.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { API, Arrays, Frames, getFailure, getMesh, getRun, getStats, indices, IS_FILE, Refused, Run, Step, Unreachable } from "./api";
import { BodyPanel } from "./bodies";
import { short } from "./colour";
import { ColourPanel } from "./colouring";
import { input, make, part } from "./dom";
import { Player } from "./player";
import { Plots } from "./plots";
import { picture, save } from "./screenshot";
import { Stage } from "./stage";

/** How long after an answer the next question comes, ms: while a run goes on, afterwards, and unseen. */
const PAUSES = { live: 500, ended: 2000, hidden: 5000 };

function counted(number: number, one: string, several = `${one}s`): string {
  return `${number} ${number === 1 ? one : several}`;
}

class Viewer {
  #stage: Stage;
  #run: Run | undefined;
  #frames: Frames | undefined;
  #steps: Step[] = [];
  #statsBytes = 0;
  #failureShown = false;
  #showing: Promise<void> | undefined;
  #shown = "";
  #count = 0;
  #work = 0;
  #bodies: BodyPanel;
  #colours: ColourPanel;
  #player: Player;
  #plots: Plots;
  #ofCell: Uint32Array = new Uint32Array();

  constructor(canvas: HTMLCanvasElement) {
    this.#stage = new Stage(canvas);
    const show = () => void this.#show();
    this.#colours = new ColourPanel(this.#stage, (cell) => this.#ofCell[cell], show);
    this.#bodies = new BodyPanel(this.#stage, (visibility) => {
      if (visibility) this.#colours.forget();
      this.#shown = "";
      show();
    });
    this.#player = new Player(show, (index) => this.#prefetch(index), () => this.#showing !== undefined);
    this.#plots = new Plots(part("plots"), (time) => this.#player.goTo(time));
    this.#listen(canvas);
  }

  /** Asks the server for ever, or a file that has the run in it once. */
  async watch(): Promise<void> {
    for (;;) {
      try {
        await this.#ask();
        if (this.#run) part("notice").textContent = "";
      } catch (error) {
        this.#complain(error);
      }
      if (IS_FILE) return;
      const pause = document.hidden ? PAUSES.hidden : this.#run?.live ? PAUSES.live : PAUSES.ended;
      await new Promise((wake) => setTimeout(wake, this.#run ? pause : PAUSES.live));
    }
  }

  async #ask(): Promise<void> {
    const run = await getRun();
    if (run.api !== API) {
      throw new Error("The page and the program are of different versions: build the page again, then the program.");
    }
    const isNew = this.#run?.generation !== run.generation;
    if (isNew) await this.#begin(run);
    this.#run = run;
    this.#colours.setRun(run);
    this.#bodies.setArrays(run.arrays);
    this.#player.setFrames(run.frames, run.time_step, isNew, run.live, run.failed);
    if (isNew) {
      await this.#show();
      this.#stage.measure(run.half_spaces);
      this.#stage.fit();
    }
    await this.#askStats(run);
    await this.#askFailure(run);
    this.#describe(run);
  }

  async #begin(run: Run): Promise<void> {
    const mesh = await getMesh(run.generation);
    this.#ofCell = indices(mesh, "body");
    this.#frames = new Frames(run.generation);
    [this.#steps, this.#statsBytes, this.#shown, this.#failureShown] = [[], 0, "", false];
    this.#stage.setMesh(run, mesh);
    this.#bodies.setRun(run, mesh);
  }

  async #askStats(run: Run): Promise<void> {
    // a run that was resumed has gone back
    if (run.stats_length < this.#statsBytes) [this.#steps, this.#statsBytes] = [[], 0];
    while (this.#statsBytes < run.stats_length) {
      const { steps, bytes } = await getStats(this.#statsBytes);
      if (bytes === 0) break;
      this.#steps.push(...steps);
      this.#statsBytes += bytes;
      this.#plots.set(this.#steps);
    }
  }

  async #askFailure(run: Run): Promise<void> {
    if (run.failed === this.#failureShown) return;
    const failure = run.failed ? await getFailure() : undefined;
    this.#failureShown = run.failed;
    this.#stage.culprits.set(failure);
    part("failure").hidden = failure === undefined;
    part("failure-message").textContent = failure?.message ?? "";
    const items = (failure?.culprits ?? []).map(({ what }, k) => {
      const item = make("li", what);
      item.title = "Zoom in";
      item.addEventListener("click", () => {
        const place = this.#stage.culprits.place(k);
        if (place) this.#stage.fit({ centre: place.centre, size: Math.max(3 * place.size, 0.15 * this.#stage.size) });
      });
      return item;
    });
    part("culprits").replaceChildren(...items);
    this.#stage.draw();
  }

  #describe(run: Run): void {
    const name = run.folder.split("/").filter(Boolean).at(-1) ?? run.folder;
    part("title").textContent = name;
    document.title = `${name} – Standoff`;
    const [triangles, sticks, points] = this.#stage.cells;
    const parts = [
      triangles && counted(triangles, "triangle"),
      sticks && counted(sticks, "segment"),
      points && counted(points, "point"),
      counted(run.bodies.length, "body", "bodies"),
    ];
    const last = this.#steps.at(-1);
    const lines = [
      run.live ? "Running" : run.failed ? "The run stopped at a failed step." : "",
      parts.filter(Boolean).join(", "),
      last ? `${counted(this.#steps.length, "step")}, computed in ${short(this.#steps.reduce((s, r) => s + r.seconds.total, 0))} s` : "",
    ];
    part("summary").textContent = lines.filter(Boolean).join("\n");
    part("stage").dataset.live = String(run.live);
    part("stage").dataset.frames = String(run.frames.length);
  }

  /** Arrays of a frame that are needed now. */
  #needed(): string[] {
    const { array } = this.#colours;
    const all = this.#bodies.wantsAll ? (this.#run?.arrays ?? []).filter((a) => a.name !== "gap") : [];
    const names = new Set([...all.map((a) => a.name), ...(array ? [array.name] : [])]);
    if (this.#stage.settings.arrows) names.add("contact_force");
    return [...names];
  }

  #prefetch(index: number): void {
    const step = this.#run?.frames[index];
    // an error is told when the frame's turn comes
    if (step !== undefined) this.#frames?.get(step, this.#needed()).catch(() => undefined);
  }

  /** Shows the frame of the time line; while one is on its way, the one that is wanted when it arrives. */
  #show(): Promise<void> {
    this.#showing ??= this.#showWanted().finally(() => (this.#showing = undefined));
    return this.#showing;
  }

  async #showWanted(): Promise<void> {
    try {
      for (;;) {
        const [run, frames] = [this.#run, this.#frames];
        const step = run?.frames[this.#player.index];
        const needed = this.#needed();
        const key = `${run?.generation} ${step} ${needed.join()}`;
        if (step === undefined || !frames || key === this.#shown) return;
        const frame = await frames.get(step, needed);
        if (frames !== this.#frames) continue;
        this.#shown = key;
        this.#apply(frame, step);
      }
    } catch (error) {
      this.#complain(error);
    }
  }

  #apply(frame: Arrays, step: number): void {
    const start = performance.now();
    this.#stage.setFrame(frame);
    this.#colours.setFrame(frame);
    this.#bodies.setFrame(frame);
    const time = Number(frame.about.time ?? 0);
    this.#plots.setTime(time);
    const { dataset } = this.#stage.canvas;
    dataset.step = String(step);
    // for tests: frames so far, and what they took, ms
    dataset.shown = String(++this.#count);
    dataset.work = String((this.#work += performance.now() - start));
    dataset.arrows = String(this.#stage.arrows);
  }

  #complain(error: unknown): void {
    const notice = part("notice");
    if (error instanceof Refused && error.status === 404 && !this.#run) {
      notice.textContent = `Waiting for the run to begin.\n${error.message}`;
    } else if (error instanceof Refused && [404, 409, 416].includes(error.status)) {
      // the folder has changed: the next answer tells how
      if (error.status !== 404) this.#run = undefined;
    } else if (error instanceof Unreachable) {
      notice.textContent = "The viewer's server does not answer. It may have been stopped.";
    } else {
      notice.textContent = error instanceof Error ? error.message : String(error);
    }
  }

  #listen(canvas: HTMLCanvasElement): void {
    const { settings } = this.#stage;
    for (const name of ["wireframe", "smooth", "thickness", "planes", "arrows"] as const) {
      input(name).addEventListener("change", () => {
        settings[name] = input(name).checked;
        this.#stage.update();
        void this.#show();
        canvas.dataset.arrows = String(this.#stage.arrows);
      });
    }
    input("arrow-length").addEventListener("input", () => {
      settings.arrowLength = Number(input("arrow-length").value);
      this.#stage.updateArrows();
      this.#stage.draw();
    });
    input("show-culprits").addEventListener("change", () => {
      this.#stage.culprits.object.visible = input("show-culprits").checked;
      this.#stage.draw();
    });
    part("fit").addEventListener("click", () => {
      this.#stage.measure(this.#run?.half_spaces ?? []);
      this.#stage.fit();
    });
    part("toggle-plots").addEventListener("click", () => {
      part("plots").hidden = !part("plots").hidden;
      this.#plots.set(this.#steps);
    });
    part("screenshot").addEventListener("click", () => {
      const step = (canvas.dataset.step ?? "0").padStart(6, "0");
      const caption = `${part("title").textContent}, ${part("time").textContent}`;
      save(picture(this.#stage, caption), `${part("title").textContent}-${step}.png`);
    });
    // a click is what did not turn the scene
    let down = [0, 0];
    canvas.addEventListener("pointerdown", (e) => (down = [e.clientX, e.clientY]));
    canvas.addEventListener("click", (e) => {
      if (Math.hypot(e.clientX - down[0], e.clientY - down[1]) > 4) return;
      this.#bodies.pick(this.#stage.pick(e.clientX, e.clientY));
    });
    canvas.addEventListener("dblclick", (e) => {
      const picked = this.#stage.pick(e.clientX, e.clientY);
      if (picked) this.#bodies.select(picked.body, false);
    });
  }
}

try {
  const canvas = part<HTMLCanvasElement>("canvas");
  void new Viewer(canvas).watch();
} catch (error) {
  part("notice").textContent = `The browser cannot show the scene (${error instanceof Error ? error.message : error}). It needs WebGL 2.`;
}
