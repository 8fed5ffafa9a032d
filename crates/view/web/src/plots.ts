// Curves of the statistics over time.

import uPlot from "uplot";
import { Step } from "./api";
import { short } from "./colour";

interface Curve {
  name: string;
  colour: string;
  value: (step: Step) => number | null;
}

const sum = (s: Step) => s.kinetic_energy + s.elastic_energy + s.gravity_energy + s.contact_energy;
const PLOTS: { title: string; logarithmic: boolean; curves: Curve[] }[] = [
  {
    title: "Energies, J",
    logarithmic: false,
    curves: [
      { name: "kinetic", colour: "#4e79a7", value: (s) => s.kinetic_energy },
      { name: "elastic", colour: "#e15759", value: (s) => s.elastic_energy },
      { name: "gravity", colour: "#59a14f", value: (s) => s.gravity_energy },
      { name: "contact", colour: "#b07aa1", value: (s) => s.contact_energy },
      { name: "sum", colour: "#22262b", value: sum },
    ],
  },
  {
    title: "Newton iterations",
    logarithmic: false,
    curves: [{ name: "iterations", colour: "#4e79a7", value: (s) => s.newton_iterations }],
  },
  {
    title: "Contacts",
    logarithmic: false,
    curves: [{ name: "contacts", colour: "#f28e2b", value: (s) => s.contacts }],
  },
  {
    title: "Smallest gap, m",
    logarithmic: true,
    curves: [{ name: "gap", colour: "#e15759", value: (s) => (s.min_gap && s.min_gap > 0 ? s.min_gap : null) }],
  },
  {
    title: "Residual forces, part of those that act",
    logarithmic: true,
    curves: [{ name: "imbalance", colour: "#9c755f", value: (s) => s.imbalance || null }],
  },
  {
    title: "Seconds per step",
    logarithmic: true,
    curves: [{ name: "seconds", colour: "#59a14f", value: (s) => s.seconds.total || null }],
  },
];

export class Plots {
  #plots: uPlot[] = [];
  #marks: HTMLElement[] = [];
  #time = 0;
  #due = false;
  #steps: Step[] = [];

  constructor(
    readonly parent: HTMLElement,
    readonly choose: (time: number) => void,
  ) {
    new ResizeObserver(() => this.#resize()).observe(parent);
  }

  /** Takes all the steps; draws soon, not for every one. */
  set(steps: Step[]): void {
    this.#steps = steps;
    if (this.#due) return;
    this.#due = true;
    setTimeout(() => {
      this.#due = false;
      this.#draw();
    }, 100);
  }

  /** Moves the line that shows the time of the frame. */
  setTime(time: number): void {
    this.#time = time;
    this.#plots.forEach((plot, k) => {
      const place = plot.valToPos(time, "x");
      const inside = place >= 0 && place <= plot.over.clientWidth;
      this.#marks[k].style.display = inside ? "" : "none";
      this.#marks[k].style.transform = `translateX(${place}px)`;
    });
  }

  #draw(): void {
    if (this.parent.hidden) return;
    const times = this.#steps.map((s) => s.time);
    const data = PLOTS.map(({ curves }) => [
      times,
      ...curves.map((c) => this.#steps.map(c.value)),
    ]) as uPlot.AlignedData[];
    if (this.#plots.length === 0) {
      this.#plots = PLOTS.map((_, k) => this.#make(k, data[k]));
    } else {
      this.#plots.forEach((plot, k) => plot.setData(data[k]));
    }
    this.setTime(this.#time);
  }

  #make(index: number, data: uPlot.AlignedData): uPlot {
    const { title, logarithmic, curves } = PLOTS[index];
    const cell = document.createElement("div");
    cell.className = "plot";
    cell.dataset.plot = title;
    this.parent.append(cell);
    const heading = curves.length > 1 ? "Energies, J: " + curves.map((c) => c.name).join(", ") : title;
    const axis = { size: 52, font: "11px system-ui", gap: 2 };
    const plot = new uPlot(
      {
        title,
        width: this.#width(),
        height: this.#height(),
        padding: [4, 8, 0, 0],
        cursor: { drag: { x: false, y: false }, points: { size: 4 } },
        legend: { show: false },
        scales: { x: { time: false }, y: logarithmic ? { distr: 3, log: 10 } : {} },
        axes: [
          { ...axis, size: 24 },
          { ...axis, values: (_, ticks) => ticks.map((t) => (t === null ? "" : short(t))) },
        ],
        series: [
          {},
          ...curves.map((c) => ({ label: c.name, stroke: c.colour, width: 1.2, points: { show: false } })),
        ],
      },
      data,
      cell,
    );
    const titleElement = cell.querySelector<HTMLElement>(".u-title");
    if (titleElement) {
      titleElement.title = heading;
      if (curves.length > 1) {
        titleElement.textContent = "";
        for (const { name, colour } of curves) {
          const part = document.createElement("span");
          part.textContent = ` ${name}`;
          part.style.color = colour;
          titleElement.append(part);
        }
        titleElement.append(" (J)");
      }
    }
    const mark = document.createElement("div");
    Object.assign(mark.style, {
      position: "absolute",
      top: "0",
      bottom: "0",
      width: "1px",
      background: "#22262b",
      pointerEvents: "none",
    });
    plot.over.append(mark);
    this.#marks[index] = mark;
    plot.over.addEventListener("click", (event) => {
      this.choose(plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, "x"));
    });
    return plot;
  }

  #width(): number {
    const gaps = 12 + 4 * (PLOTS.length - 1);
    return Math.max(Math.floor((this.parent.clientWidth - gaps) / PLOTS.length), 120);
  }

  #height(): number {
    return Math.max(this.parent.clientHeight - 26, 80);
  }

  #resize(): void {
    if (this.parent.hidden || this.parent.clientWidth === 0) return;
    const size = { width: this.#width(), height: this.#height() };
    this.#plots.forEach((plot) => plot.setSize(size));
    if (this.#plots.length === 0 && this.#steps.length > 0) this.#draw();
    this.setTime(this.#time);
  }
}
