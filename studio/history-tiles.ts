/**
 * Tiles of a history, asked for as they come into view. A tile that is not there yet is stood in for by a coarser one that is, so that
 * moving never waits for the server; the tiles asked for last are fetched first, for those before may be out of view.
 */
import type { TileOperation } from '../src/studio/api.js';
import { get } from './api.js';

export const lanesPerTile = 32;
export const binsPerTile = 256;

export type Tile =
  | { readonly operations: readonly TileOperation[] }
  | {
      readonly bins: Uint8Array;
      readonly failed: Uint8Array;
      /** One pixel for each slice and lane, in the colours of `theme`. */
      image?: { readonly theme: string; readonly canvas: HTMLCanvasElement };
    };

const atOnce = 3;
const mostTiles = 600;
const coarsest = 12;

export interface TileFound {
  readonly tile: Tile;
  readonly zoom: number;
  readonly index: number;
}

export class Tiles {
  readonly #tiles = new Map<string, Tile>();
  #wanted: string[] = [];
  readonly #loading = new Set<string>();

  constructor(
    private readonly path: string,
    private readonly filter: string,
    private readonly loaded: () => void,
  ) {}

  /** The tile, or the finest coarser one that is there. */
  find(zoom: number, index: number, lanes: number): TileFound | undefined {
    for (let up = 0; up <= coarsest && up <= zoom; up++) {
      const at = Math.floor(index / 2 ** up);
      const key = `${zoom - up}/${at}/${lanes}`;
      const tile = this.#tiles.get(key);
      if (up === 0 && tile === undefined) this.#ask(key);
      if (tile === undefined) continue;
      this.#tiles.delete(key);
      this.#tiles.set(key, tile);
      return { tile, zoom: zoom - up, index: at };
    }
    return undefined;
  }

  /** Nothing that was asked for before and has not begun is needed any more. */
  forget(): void {
    this.#wanted = [];
  }

  get isComplete(): boolean {
    return this.#wanted.length === 0 && this.#loading.size === 0;
  }

  #ask(key: string): void {
    if (this.#loading.has(key) || this.#wanted.includes(key)) return;
    this.#wanted.push(key);
    this.#pump();
  }

  #pump(): void {
    while (this.#loading.size < atOnce) {
      const key = this.#wanted.pop();
      if (key === undefined) return;
      this.#loading.add(key);
      void this.#load(key).finally(() => {
        this.#loading.delete(key);
        this.#pump();
        this.loaded();
      });
    }
  }

  async #load(key: string): Promise<void> {
    const [zoom, tile, lanes] = key.split('/');
    try {
      const answer = await get<{ bins: string; failed: string } | { operations: TileOperation[] }>(
        `${this.path}/tile?zoom=${zoom}&tile=${tile}&lanes=${lanes}${this.filter}`,
      );
      this.#tiles.set(
        key,
        'operations' in answer ? answer : { bins: bytesOf(answer.bins), failed: bytesOf(answer.failed) },
      );
    } catch {
      // The server is gone, which the rest of the page says; empty here, so that it is not asked again and again.
      this.#tiles.set(key, { operations: [] });
    }
    if (this.#tiles.size > mostTiles) this.#tiles.delete(this.#tiles.keys().next().value!);
  }
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
