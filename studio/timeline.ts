/**
 * The drawing of a history: sessions as lanes, the axis from left to right. Few operations are boxes with their statements, many are
 * shades. All of it is on one canvas and drawn anew for every frame, from tiles that are pictures themselves.
 */
import type { FindingMark, TileOperation } from '../src/studio/api.js';
import { binsPerTile, lanesPerTile, type Tile, type Tiles } from './history-tiles.js';

export const laneHeight = 24;
export const rulerHeight = 26;

export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Shape {
  readonly width: number;
  readonly height: number;
  /** Pixels of the screen for each of the page. */
  readonly density: number;
  /** Where the lanes begin, behind the names of the sessions. */
  readonly gutter: number;
}

export interface Theme {
  readonly name: string;
  readonly sessions: readonly string[];
  readonly ink: string;
  readonly soft: string;
  readonly line: string;
  readonly card: string;
  readonly wash: string;
  readonly bad: string;
  readonly lit: string;
  readonly accent: string;
}

export function themeOf(element: Element): Theme {
  const style = getComputedStyle(element);
  const value = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    name: value('paper'),
    sessions: [0, 1, 2, 3, 4, 5].map((i) => value(`s${i}`)),
    ink: value('ink'),
    soft: value('soft-ink'),
    line: value('line'),
    card: value('card'),
    wash: value('wash'),
    bad: value('bad'),
    lit: value('lit'),
    accent: value('accent'),
  };
}

export interface Picture {
  readonly shape: Shape;
  readonly theme: Theme;
  /** What is in view. */
  readonly view: Span;
  /** All of the axis. */
  readonly span: Span;
  readonly timed: boolean;
  readonly sessions: readonly string[];
  /** Pixels of lanes that are above the window. */
  readonly top: number;
  readonly tiles: Tiles;
  readonly marks: readonly FindingMark[];
  readonly selected: number | undefined;
  /** Operations of the finding that is looked at. */
  readonly lit: ReadonlySet<number>;
}

export function xOf(place: number, { view, shape }: Pick<Picture, 'view' | 'shape'>): number {
  return shape.gutter + ((place - view.from) / (view.to - view.from)) * (shape.width - shape.gutter);
}

/** The zoom at which a tile is between 256 and 512 pixels wide. */
export function zoomOf({ view, span, shape }: Pick<Picture, 'view' | 'span' | 'shape'>): number {
  const share = (view.to - view.from) / (span.to - span.from);
  return Math.max(0, Math.min(50, Math.floor(Math.log2((shape.width - shape.gutter) / 256 / share))));
}

interface VisibleTile {
  readonly tile: Tile;
  /** Where the tile lies on the axis, and which part of it is to be drawn. */
  readonly place: Span;
  readonly part: Span;
  readonly firstLane: number;
}

function* visibleTiles(picture: Picture): Generator<VisibleTile> {
  const { view, span, sessions, shape, top, tiles } = picture;
  const zoom = zoomOf(picture);
  const width = (span.to - span.from) / 2 ** zoom;
  const first = Math.max(0, Math.floor((view.from - span.from) / width));
  const last = Math.min(2 ** zoom - 1, Math.floor((view.to - span.from) / width));
  const firstGroup = Math.floor(top / laneHeight / lanesPerTile);
  const lastLane = Math.min(sessions.length - 1, Math.floor((top + shape.height) / laneHeight));
  for (let lanes = firstGroup; lanes * lanesPerTile <= lastLane; lanes++)
    for (let index = first; index <= last; index++) {
      const found = tiles.find(zoom, index, lanes);
      if (found === undefined) continue;
      const whole = (span.to - span.from) / 2 ** found.zoom;
      const from = span.from + found.index * whole;
      const part = { from: span.from + index * width, to: span.from + (index + 1) * width };
      yield { tile: found.tile, place: { from, to: from + whole }, part, firstLane: lanes * lanesPerTile };
    }
}

/** The operations in view, where all tiles in view list theirs; undefined: there are too many. */
export function operationsInView(picture: Picture): readonly TileOperation[] | undefined {
  const found = new Map<number, TileOperation>();
  for (const { tile } of visibleTiles(picture)) {
    if (!('operations' in tile)) return undefined;
    for (const operation of tile.operations)
      if (operation[3] >= picture.view.from && operation[2] <= picture.view.to)
        found.set(operation[0], operation);
  }
  return [...found.values()].sort((a, b) => a[2] - b[2] || a[0] - b[0]);
}

/** The operation at a point of the canvas. */
export function operationAt(picture: Picture, x: number, y: number): number | undefined {
  const lane = Math.floor((y - rulerHeight + picture.top) / laneHeight);
  let best: { readonly index: number; readonly away: number } | undefined;
  for (const { tile } of visibleTiles(picture)) {
    if (!('operations' in tile)) continue;
    for (const [index, session, start, end] of tile.operations) {
      if (session !== lane) continue;
      const [left, right] = [xOf(start, picture), Math.max(xOf(end, picture), xOf(start, picture) + 2)];
      const away = x < left ? left - x : x > right ? x - right : 0;
      if (away <= 3 && (best === undefined || away < best.away)) best = { index, away };
    }
  }
  return best?.index;
}

export function draw(context: CanvasRenderingContext2D, picture: Picture): void {
  const { shape, theme, sessions, top } = picture;
  context.setTransform(shape.density, 0, 0, shape.density, 0, 0);
  context.fillStyle = theme.card;
  context.fillRect(0, 0, shape.width, shape.height);
  context.font = '12px system-ui, sans-serif';
  context.textBaseline = 'middle';
  context.save();
  context.beginPath();
  context.rect(shape.gutter, rulerHeight, shape.width - shape.gutter, shape.height - rulerHeight);
  context.clip();
  const firstLane = Math.floor(top / laneHeight);
  const lastLane = Math.min(sessions.length - 1, Math.ceil((top + shape.height) / laneHeight));
  context.fillStyle = theme.wash;
  for (let lane = firstLane; lane <= lastLane; lane++)
    if (lane % 2 === 1) context.fillRect(shape.gutter, yOf(lane, top), shape.width, laneHeight);
  context.imageSmoothingEnabled = false;
  picture.tiles.forget();
  // An operation that reaches over a border is in several tiles, and drawn once.
  const operations = new Map<number, TileOperation>();
  for (const visible of visibleTiles(picture))
    if (!('operations' in visible.tile)) drawShades(context, picture, visible, visible.tile);
    else for (const operation of visible.tile.operations) operations.set(operation[0], operation);
  drawOperations(context, picture, operations.values());
  context.restore();
  drawNames(context, picture, firstLane, lastLane);
  drawRuler(context, picture);
}

function yOf(lane: number, top: number): number {
  return rulerHeight + lane * laneHeight - top;
}

function drawShades(
  context: CanvasRenderingContext2D,
  picture: Picture,
  { place, part, firstLane }: VisibleTile,
  tile: Extract<Tile, { bins: Uint8Array }>,
): void {
  const { theme, sessions, top } = picture;
  if (tile.image?.theme !== theme.name)
    tile.image = { theme: theme.name, canvas: shadesOf(tile, firstLane, theme) };
  const scale = binsPerTile / (place.to - place.from);
  const [from, size] = [(part.from - place.from) * scale, (part.to - part.from) * scale];
  const left = xOf(part.from, picture);
  const width = xOf(part.to, picture) - left;
  for (let lane = 0; lane < lanesPerTile && firstLane + lane < sessions.length; lane++) {
    const y = yOf(firstLane + lane, top);
    if (y > picture.shape.height || y < rulerHeight - laneHeight) continue;
    context.drawImage(tile.image.canvas, from, lane, size, 1, left, y + 3, width, laneHeight - 6);
  }
}

function shadesOf(
  { bins, failed }: Extract<Tile, { bins: Uint8Array }>,
  firstLane: number,
  theme: Theme,
): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = binsPerTile;
  canvas.height = lanesPerTile;
  const context = canvas.getContext('2d')!;
  const image = context.createImageData(binsPerTile, lanesPerTile);
  const bad = rgb(theme.bad);
  for (let lane = 0; lane < lanesPerTile; lane++) {
    const color = rgb(theme.sessions[(firstLane + lane) % theme.sessions.length]!);
    for (let bin = 0; bin < binsPerTile; bin++) {
      const at = lane * binsPerTile + bin;
      if (bins[at] === 0) continue;
      image.data.set(failed[at] === 1 ? bad : color, at * 4);
      image.data[at * 4 + 3] = 60 + Math.round((bins[at]! / 255) * 195);
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

function rgb(color: string): [number, number, number] {
  const number = Number.parseInt(color.slice(1), 16);
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
}

function drawOperations(
  context: CanvasRenderingContext2D,
  picture: Picture,
  operations: Iterable<TileOperation>,
): void {
  const { theme, top, shape, selected, lit, view } = picture;
  for (const [index, session, start, end, flags, label] of operations) {
    if (end < view.from || start > view.to) continue;
    const y = yOf(session, top);
    if (y > shape.height || y < rulerHeight - laneHeight) continue;
    const left = Math.max(xOf(start, picture), shape.gutter - 4);
    const right = Math.min(Math.max(xOf(end, picture), xOf(start, picture) + 1), shape.width + 4);
    const width = right - left;
    const color = (flags & 1) !== 0 ? theme.bad : theme.sessions[session % theme.sessions.length]!;
    const isLit = index === selected || lit.has(index);
    context.globalAlpha = isLit ? 1 : (flags & 1) !== 0 ? 0.75 : 0.35;
    context.fillStyle = isLit ? theme.lit : color;
    context.fillRect(left, y + 3, width > 3 ? width - 1 : width, laneHeight - 6);
    context.globalAlpha = 1;
    if (isLit) {
      context.strokeStyle = theme.ink;
      context.strokeRect(left - 0.5, y + 2.5, Math.max(3, width), laneHeight - 5);
    }
    // Where its transaction ends.
    if ((flags & 12) !== 0) {
      context.fillStyle = (flags & 8) !== 0 ? theme.bad : theme.ink;
      context.fillRect(right - 2, y + 1, 2, laneHeight - 2);
    }
    if (width > 34) {
      context.fillStyle = theme.ink;
      drawText(context, label, { x: left + 4, y: y + laneHeight / 2, width: width - 8 });
    }
  }
}

function drawText(
  context: CanvasRenderingContext2D,
  text: string,
  { x, y, width }: { readonly x: number; readonly y: number; readonly width: number },
): void {
  // Wide enough for what can be read; measuring every label in every frame would take too long.
  const most = Math.floor(width / 6);
  if (most < 3) return;
  const line = text.replaceAll('\n', ' ');
  context.fillText(line.length > most ? `${line.slice(0, most - 1)}…` : line, x, y);
}

function drawNames(
  context: CanvasRenderingContext2D,
  { shape, theme, sessions, top }: Picture,
  firstLane: number,
  lastLane: number,
): void {
  context.fillStyle = theme.card;
  context.fillRect(0, 0, shape.gutter, shape.height);
  for (let lane = firstLane; lane <= lastLane; lane++) {
    const y = yOf(lane, top) + laneHeight / 2;
    if (y < rulerHeight) continue;
    context.fillStyle = theme.sessions[lane % theme.sessions.length]!;
    drawText(context, sessions[lane] ?? '', { x: 8, y, width: shape.gutter - 12 });
  }
}

function drawRuler(context: CanvasRenderingContext2D, picture: Picture): void {
  const { shape, theme, view, timed, marks } = picture;
  context.fillStyle = theme.card;
  context.fillRect(0, 0, shape.width, rulerHeight);
  context.fillStyle = theme.line;
  context.fillRect(0, rulerHeight - 1, shape.width, 1);
  context.fillRect(shape.gutter - 1, 0, 1, shape.height);
  const step = niceStep((view.to - view.from) / Math.max(2, (shape.width - shape.gutter) / 130));
  for (let place = Math.ceil(view.from / step) * step; place <= view.to; place += step) {
    const x = xOf(place, picture);
    context.fillStyle = theme.line;
    context.fillRect(x, rulerHeight - 6, 1, 6);
    context.fillStyle = theme.soft;
    context.fillText(placeText(place, timed, step), x + 4, 11);
  }
  context.fillStyle = theme.bad;
  for (const { place } of marks) {
    if (place === undefined || place < view.from || place > view.to) continue;
    const x = xOf(place, picture);
    context.beginPath();
    context.moveTo(x, rulerHeight - 1);
    context.lineTo(x - 5, rulerHeight - 10);
    context.lineTo(x + 5, rulerHeight - 10);
    context.fill();
  }
}

function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-9)));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= least) ?? 10);
}

const units = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
  [1, 'ns'],
] as const;

/** A place on the axis, as exact as `step`: a time in the largest unit that is not more than `size`, or a position. */
export function placeText(place: number, timed: boolean, step: number, size = step): string {
  if (!timed) return `#${Math.round(place).toLocaleString('en')}`;
  const [one, unit] = units.find(([each]) => size >= each) ?? units[3];
  const digits = Math.max(0, Math.min(6, -Math.floor(Math.log10(step / one) + 1e-9)));
  return `${(place / one).toFixed(digits)} ${unit}`;
}
