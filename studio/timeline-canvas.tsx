/** The canvas of a history: keeps the drawing in step with the view, and tells where the reader clicks. */
import { useEffect, useRef } from 'preact/hooks';
import type { FindingMark, OpenHistoryPage, TileOperation } from '../src/studio/api.js';
import { Tiles } from './history-tiles.js';
import { HistoryView } from './history-view.js';
import {
  draw,
  laneHeight,
  operationAt,
  operationsInView,
  type Picture,
  rulerHeight,
  type Span,
  themeOf,
} from './timeline.js';

export interface TimelineHandle {
  readonly view: HistoryView;
}

/** What is in view once the reader has stopped moving. */
export interface Settled {
  readonly view: Span;
  readonly operations: readonly TileOperation[] | undefined;
}

interface Props {
  readonly path: string;
  readonly filter: string;
  readonly page: OpenHistoryPage;
  readonly marks: readonly FindingMark[];
  readonly lit: ReadonlySet<number>;
  readonly selected: number | undefined;
  readonly handle: (handle: TimelineHandle) => void;
  readonly select: (index: number) => void;
  readonly settle: (settled: Settled) => void;
  /** Keys that move nothing here. */
  readonly onKey: (key: string) => boolean;
}

const settleMs = 120;
const help =
  'timeline: arrow keys move, plus and minus zoom, 0 shows all, n and p go to findings, comma and period to operations';

export function TimelineCanvas(props: Props) {
  const { path, filter, page } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const painter = useRef<Painter | undefined>(undefined);
  const { span, sessions } = page;
  useEffect(() => {
    const made = new Painter(canvas.current!, span, sessions, latest);
    painter.current = made;
    latest.current.handle({ view: made.view });
    return () => made.end();
  }, [span.from, span.to, sessions.length, path]);
  useEffect(() => painter.current?.read(path, filter), [span.from, span.to, sessions.length, path, filter]);
  useEffect(() => painter.current?.ask(), [props.marks, props.lit, props.selected]);
  return (
    <section
      class="timeline"
      tabIndex={0}
      role="application"
      aria-label={help}
      onKeyDown={(event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const used = painter.current?.view.keyDown(event.key) === true || latest.current.onKey(event.key);
        if (used) event.preventDefault();
      }}
      onKeyUp={(event) => painter.current?.view.keyUp(event.key)}
      onBlur={() => painter.current?.view.keyUp()}
    >
      <canvas ref={canvas} />
    </section>
  );
}

/** More lanes than these are scrolled. */
function lanesShown(sessions: readonly string[]): number {
  return Math.min(Math.max(sessions.length, 3), 18);
}

/** Draws at most once per frame, whatever changed how often. */
class Painter {
  readonly view: HistoryView;
  #tiles: Tiles | undefined;
  #asked = false;
  #settling: ReturnType<typeof setTimeout> | undefined;
  #drag: { x: number; y: number; moved: boolean } | undefined;
  readonly #context: CanvasRenderingContext2D;
  readonly #listeners = new AbortController();
  readonly #watch: ResizeObserver;
  #frames = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly span: Span,
    private readonly sessions: readonly string[],
    private readonly props: { readonly current: Props },
  ) {
    // Its picture may have any size; on the page it is as high as its lanes.
    canvas.style.height = `${rulerHeight + lanesShown(sessions) * laneHeight}px`;
    this.#context = canvas.getContext('2d', { alpha: false })!;
    this.view = new HistoryView(span, sessions.length, () => this.ask());
    this.#watch = new ResizeObserver(() => this.ask());
    this.#watch.observe(canvas);
    const { signal } = this.#listeners;
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.ask(), { signal });
    canvas.addEventListener('wheel', (event) => this.#wheel(event), { signal, passive: false });
    canvas.addEventListener('pointerdown', (event) => this.#down(event), { signal });
    canvas.addEventListener('pointermove', (event) => this.#move(event), { signal });
    canvas.addEventListener('pointerup', (event) => this.#up(event), { signal });
    canvas.addEventListener(
      'pointercancel',
      () => {
        this.#drag = undefined;
      },
      { signal },
    );
  }

  end(): void {
    this.#listeners.abort();
    this.#watch.disconnect();
    clearTimeout(this.#settling);
    this.view.keyUp();
    this.#asked = true;
  }

  read(path: string, filter: string): void {
    this.#tiles = new Tiles(path, filter, () => this.ask());
    this.ask();
  }

  /** Asks for a frame. */
  ask(): void {
    if (this.#asked) return;
    this.#asked = true;
    requestAnimationFrame(() => {
      if (this.#listeners.signal.aborted) return;
      this.#asked = false;
      this.#paint();
    });
  }

  #picture(): Picture | undefined {
    if (this.#tiles === undefined) return undefined;
    const { page, marks, lit, selected } = this.props.current;
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (width === 0) return undefined;
    return {
      shape: { width, height, density: devicePixelRatio, gutter: width < 500 ? 56 : 96 },
      theme: themeOf(this.canvas),
      view: this.view.view,
      top: this.view.top,
      timed: page.timed,
      span: this.span,
      sessions: this.sessions,
      tiles: this.#tiles,
      ...{ marks, lit, selected },
    };
  }

  #paint(): void {
    const picture = this.#picture();
    if (picture === undefined) return;
    const { shape } = picture;
    const [width, height] = [
      Math.round(shape.width * shape.density),
      Math.round(shape.height * shape.density),
    ];
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    this.view.width = shape.width;
    this.view.height = shape.height;
    draw(this.#context, picture);
    // For whoever measures: how many frames were drawn, and whether everything in view is there.
    this.canvas.dataset.frames = String(++this.#frames);
    this.canvas.dataset.complete = String(picture.tiles.isComplete);
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => this.#settle(), settleMs);
  }

  #settle(): void {
    const picture = this.#picture();
    if (picture === undefined) return;
    this.props.current.settle({ view: picture.view, operations: operationsInView(picture) });
  }

  #placeAt(x: number): number {
    const gutter = this.canvas.clientWidth < 500 ? 56 : 96;
    const share = (x - gutter) / (this.canvas.clientWidth - gutter);
    return this.view.view.from + share * this.view.size;
  }

  #wheel(event: WheelEvent): void {
    event.preventDefault();
    const sideways = event.shiftKey ? event.deltaY : event.deltaX;
    if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY))
      this.view.pan(sideways / this.canvas.clientWidth);
    else this.view.zoom(Math.exp(-event.deltaY / 400), this.#placeAt(event.offsetX));
  }

  #down(event: PointerEvent): void {
    this.#drag = { x: event.clientX, y: event.clientY, moved: false };
    this.canvas.setPointerCapture(event.pointerId);
  }

  #move(event: PointerEvent): void {
    const drag = this.#drag;
    if (drag === undefined) return;
    const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moved && Math.abs(x) + Math.abs(y) < 4) return;
    this.#drag = { x: event.clientX, y: event.clientY, moved: true };
    this.view.pan(-x / this.canvas.clientWidth);
    this.view.scroll(-y);
  }

  #up(event: PointerEvent): void {
    const picture = this.#picture();
    if (this.#drag?.moved === false && picture !== undefined) {
      const index = operationAt(picture, event.offsetX, event.offsetY);
      if (index !== undefined) this.props.current.select(index);
    }
    this.#drag = undefined;
  }
}
