/** What of a history is in view, and how it moves: by dragging, by the wheel, by keys that are held down. */
import type { Span } from './timeline.js';
import { laneHeight, rulerHeight } from './timeline.js';

export class HistoryView {
  view: Span;
  top = 0;
  width = 600;
  height = 300;
  readonly #held = new Set<string>();
  #moving = false;

  constructor(
    readonly span: Span,
    private readonly lanes: number,
    private readonly changed: () => void,
  ) {
    this.view = span;
  }

  get size(): number {
    return this.view.to - this.view.from;
  }

  show(from: number, to: number): void {
    const all = this.span.to - this.span.from;
    const size = Math.min(all, Math.max(to - from, all / 2 ** 45, 1e-3));
    const at = Math.min(this.span.to - size, Math.max(this.span.from, from));
    this.view = { from: at, to: at + size };
    this.changed();
  }

  /** By a share of the window. */
  pan(share: number): void {
    this.show(this.view.from + share * this.size, this.view.to + share * this.size);
  }

  /** Around a place, which stays where it is. */
  zoom(factor: number, around = (this.view.from + this.view.to) / 2): void {
    const size = this.size / factor;
    const from = around - ((around - this.view.from) / this.size) * size;
    this.show(from, from + size);
  }

  scroll(pixels: number): void {
    const most = Math.max(0, this.lanes * laneHeight - (this.height - rulerHeight));
    this.top = Math.max(0, Math.min(most, this.top + pixels));
    this.changed();
  }

  /** Brings an interval and its lane to where it can be read. */
  reveal(from: number, to: number, lane: number): void {
    const size = Math.max((to - from) * 8, 1e-3);
    // Someone who looks closely already keeps the zoom.
    if (this.size > size * 12 || this.size < to - from)
      this.show((from + to) / 2 - size, (from + to) / 2 + size);
    else this.show((from + to) / 2 - this.size / 2, (from + to) / 2 + this.size / 2);
    const y = lane * laneHeight - this.top;
    if (y < 0 || y > this.height - rulerHeight - laneHeight) this.scroll(y - (this.height - rulerHeight) / 2);
  }

  /** A key went down; whether it moves anything. One stroke moves a little, a held key goes on. */
  keyDown(key: string): boolean {
    const move = moves[key];
    if (move === undefined) return false;
    if (key === 'Home') this.show(this.span.from, this.span.from + this.size);
    else if (key === 'End') this.show(this.span.to - this.size, this.span.to);
    else if (key === '0') this.show(this.span.from, this.span.to);
    else if (!this.#held.has(key)) {
      this.#apply(key, 0.1);
      this.#held.add(key);
      if (!this.#moving) this.#go();
    }
    return true;
  }

  keyUp(key?: string): void {
    if (key === undefined) this.#held.clear();
    else this.#held.delete(key);
  }

  #go(): void {
    this.#moving = true;
    let last = performance.now();
    const step = (now: number): void => {
      const seconds = Math.min(0.1, (now - last) / 1000);
      last = now;
      for (const key of this.#held) this.#apply(key, seconds);
      if (this.#held.size > 0) requestAnimationFrame(step);
      else this.#moving = false;
    };
    requestAnimationFrame(step);
  }

  #apply(key: string, seconds: number): void {
    const { pan = 0, zoom = 0, scroll = 0 } = moves[key]!;
    if (pan !== 0) this.pan(pan * seconds);
    if (zoom !== 0) this.zoom(Math.exp(zoom * seconds));
    if (scroll !== 0) this.scroll(scroll * seconds);
  }
}

/** What a key does in a second: windows to the side, powers of e closer, pixels down. */
const moves: Readonly<
  Record<string, { readonly pan?: number; readonly zoom?: number; readonly scroll?: number }>
> = {
  ArrowLeft: { pan: -0.8 },
  ArrowRight: { pan: 0.8 },
  ArrowUp: { scroll: -300 },
  ArrowDown: { scroll: 300 },
  '+': { zoom: 2.5 },
  '=': { zoom: 2.5 },
  '-': { zoom: -2.5 },
  Home: {},
  End: {},
  '0': {},
};
