// The time line: which frame is shown, playing, following a run that goes on.

import { input, part, select } from "./dom";

/** Frames that are asked for before they are due. */
const AHEAD = 4;

export class Player {
  #frames: number[] = [];
  #timeStep = 1;
  #index = 0;
  #playing = false;
  /** Frame, or time in s, that playing has reached. */
  #cursor = 0;
  #last = 0;

  constructor(
    readonly show: (index: number) => void,
    readonly prefetch: (index: number) => void,
    /** Whether the frame before is still on its way. */
    readonly isBusy: () => boolean,
  ) {
    input("frame").addEventListener("input", () => this.#choose(Number(input("frame").value)));
    const buttons: Record<string, () => void> = {
      first: () => this.#choose(0),
      back: () => this.#choose(this.#index - 1),
      play: () => this.toggle(),
      forth: () => this.#choose(this.#index + 1),
      last: () => this.#choose(this.#frames.length - 1),
    };
    for (const [id, action] of Object.entries(buttons)) part(id).addEventListener("click", action);
    select("speed").addEventListener("change", () => this.#restart());
    input("follow").addEventListener("change", () => {
      if (input("follow").checked) this.#go(this.#frames.length - 1);
    });
    document.addEventListener("keydown", (event) => {
      const onControl = event.target instanceof HTMLElement && event.target.matches("input, select, button");
      if (onControl || event.ctrlKey || event.metaKey || event.altKey) return;
      const id = { " ": "play", ArrowLeft: "back", ArrowRight: "forth", Home: "first", End: "last" }[event.key];
      if (!id) return;
      event.preventDefault();
      buttons[id]();
    });
  }

  get index(): number {
    return this.#index;
  }

  /** Takes the steps of the frames that there are; another run begins from its first one. */
  setFrames(frames: number[], timeStep: number, isNew: boolean, live: boolean, failed: boolean): void {
    const grown = frames.length > this.#frames.length;
    this.#frames = frames;
    this.#timeStep = timeStep;
    input("frame").max = String(Math.max(frames.length - 1, 0));
    if (isNew) {
      input("follow").checked = live;
      this.#go(live || failed ? frames.length - 1 : 0);
    } else if (this.#index >= frames.length || (grown && input("follow").checked && !this.#playing)) {
      this.#go(frames.length - 1);
    } else {
      this.#describe();
    }
  }

  time(index: number): number {
    return (this.#frames[index] ?? 0) * this.#timeStep;
  }

  /** Goes to the frame that is nearest to a time. */
  goTo(time: number): void {
    let best = 0;
    for (let k = 0; k < this.#frames.length; k++) {
      if (Math.abs(this.time(k) - time) < Math.abs(this.time(best) - time)) best = k;
    }
    this.#choose(best);
  }

  toggle(): void {
    this.#playing = !this.#playing;
    part("play").textContent = this.#playing ? "❚❚" : "▶";
    part("play").setAttribute("aria-pressed", String(this.#playing));
    if (!this.#playing) return;
    if (this.#index >= this.#frames.length - 1) this.#go(0);
    this.#restart();
    requestAnimationFrame((now) => this.#tick(now));
  }

  #restart(): void {
    this.#cursor = this.#inFrames() ? this.#index : this.time(this.#index);
    this.#last = performance.now();
  }

  #inFrames(): boolean {
    return !Number.isNaN(Number(select("speed").value));
  }

  #tick(now: number): void {
    if (!this.#playing) return;
    const speed = select("speed").value;
    const rate = this.#inFrames() ? Number(speed) : speed === "slow" ? 0.1 : 1;
    // a browser that was busy does not leap
    this.#cursor += Math.min(Math.max(now - this.#last, 0) / 1000, 0.25) * rate;
    this.#last = now;
    if (!this.isBusy()) {
      let due = this.#index;
      const reached = (k: number) => (this.#inFrames() ? k : this.time(k)) <= this.#cursor;
      while (due + 1 < this.#frames.length && reached(due + 1)) due++;
      if (due !== this.#index) this.#go(due);
      const step = Math.max(1, Math.round(rate / 60));
      for (let k = 1; k <= AHEAD; k++) if (due + k * step < this.#frames.length) this.prefetch(due + k * step);
      if (due >= this.#frames.length - 1) {
        if (input("loop").checked) {
          this.#go(0);
          this.#restart();
        } else if (!input("follow").checked) {
          this.toggle();
        }
      }
    }
    requestAnimationFrame((now) => this.#tick(now));
  }

  /** What the user chose ends following, but for the last frame. */
  #choose(index: number): void {
    this.#go(index);
    if (this.#index < this.#frames.length - 1) input("follow").checked = false;
    this.#restart();
  }

  #go(index: number): void {
    this.#index = Math.min(Math.max(index, 0), Math.max(this.#frames.length - 1, 0));
    input("frame").value = String(this.#index);
    this.#describe();
    if (this.#frames.length > 0) this.show(this.#index);
  }

  #describe(): void {
    const step = this.#frames[this.#index] ?? 0;
    const time = Number(this.time(this.#index).toPrecision(6));
    part("time").textContent = `step ${step} of ${this.#frames.at(-1) ?? 0}, t = ${time} s`;
  }
}
