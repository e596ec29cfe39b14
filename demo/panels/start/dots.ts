import { nextTask } from '../../sources/next-task.ts';
import { across, down } from './projection.ts';

/** The fields of a city that a dot needs. */
export interface Dot {
  readonly population: number;
  readonly location: { readonly latitude: number; readonly longitude: number };
}

const DOTS_A_TASK = 4000;
/** Longitude, latitude, population. */
const NUMBERS_A_DOT = 3;

/** Paints cities on a canvas as they arrive, and again when size or colours change. */
export class Dots {
  readonly #canvas: HTMLCanvasElement;
  #numbers = new Float32Array(NUMBERS_A_DOT * 16_384);
  #count = 0;
  /** The current repaint; an older one stops. */
  #painting = 0;

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
  }

  add(dots: Iterable<Dot>): void {
    const from = this.#count;
    for (const { location, population } of dots) {
      const at = this.#count * NUMBERS_A_DOT;
      if (at >= this.#numbers.length) this.#grow();
      this.#numbers[at] = location.longitude;
      this.#numbers[at + 1] = location.latitude;
      this.#numbers[at + 2] = population;
      this.#count += 1;
    }
    this.#paint(from, this.#count);
  }

  clear(): void {
    this.#count = 0;
    this.#wipe();
  }

  /** Fits the canvas to its box and repaints in slices. */
  async repaint(): Promise<void> {
    const { clientWidth, clientHeight } = this.#canvas;
    this.#canvas.width = clientWidth * devicePixelRatio;
    this.#canvas.height = clientHeight * devicePixelRatio;
    const painting = this.#wipe();
    const until = this.#count;
    for (let from = 0; from < until; from += DOTS_A_TASK) {
      if (from > 0) await nextTask();
      if (painting !== this.#painting) return;
      this.#paint(from, Math.min(from + DOTS_A_TASK, until));
    }
  }

  #paint(from: number, until: number): void {
    const context = this.#canvas.getContext('2d');
    if (!context) return;
    const { width, height } = this.#canvas;
    const scale = (width / 1200) ** 0.7;
    context.fillStyle = getComputedStyle(this.#canvas).color;
    for (let dot = from; dot < until; dot++) {
      const at = dot * NUMBERS_A_DOT;
      const x = across(this.#numbers[at] as number) * width;
      const y = down(this.#numbers[at + 1] as number) * height;
      const population = this.#numbers[at + 2] as number;
      const size = scale * Math.min(4.5, 0.9 + population ** 0.35 / 90);
      context.globalAlpha = Math.min(0.95, 0.3 + population / 500_000);
      context.fillRect(x - size / 2, y - size / 2, size, size);
    }
  }

  #wipe(): number {
    this.#canvas.getContext('2d')?.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
    this.#painting += 1;
    return this.#painting;
  }

  #grow(): void {
    const larger = new Float32Array(this.#numbers.length * 2);
    larger.set(this.#numbers);
    this.#numbers = larger;
  }
}
