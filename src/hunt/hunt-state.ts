/**
 * How far a hunt came, on disk, so that the next one with the same seed goes on behind it. One small file for each
 * combination of database, levels, contract, profile, oracles and seed, under `hunts/` of the store's folder; written to the side
 * and renamed, so a kill leaves the old one or the new one.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, IsoldeError } from '../errors.js';
import { parseJson } from '../json.js';

/** What makes two hunts the same hunt. */
export interface HuntName {
  readonly target: string;
  readonly levels: string;
  readonly contract: string;
  readonly profile: string;
  /** The oracles chosen; empty: all. */
  readonly oracles?: string;
  readonly seed: string;
}

export interface HuntState extends HuntName {
  /** All rounds below this number are done. */
  readonly finished: number;
  /** Seconds and raw findings of all runs together. */
  readonly seconds: number;
  readonly raw: number;
}

const format = 1;

export class HuntStateFile {
  readonly path: string;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    folder: string,
    private readonly name: HuntName,
  ) {
    const { target, levels, contract, profile, oracles = '', seed } = name;
    const chosen = oracles === '' ? [] : [oracles];
    const all = [target, levels, contract, profile, seed, ...chosen];
    const hash = createHash('sha256').update(JSON.stringify(all));
    this.path = join(folder, 'hunts', `${hash.digest('hex').slice(0, 12)}.json`);
  }

  /** The state found there; undefined: no such hunt has run yet. */
  async read(): Promise<HuntState | undefined> {
    let text: string;
    try {
      text = await readFile(this.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw new IsoldeError('file-system', `cannot read ${this.path}: ${errorText(error)}`, { cause: error });
    }
    const node = parseJson(text, this.path);
    node.members();
    const version = node.at('format').count();
    if (version !== format)
      node.at('format').fail(`expected ${format}, found ${version}; --restart begins at round 0 again`);
    return {
      ...this.name,
      finished: node.at('finished').count(),
      seconds: Number(node.at('seconds').value) || 0,
      raw: node.at('raw').count(),
    };
  }

  /** Replaces the state; writes that come faster than the disk wait for each other. */
  write(state: Pick<HuntState, 'finished' | 'seconds' | 'raw'>): Promise<void> {
    this.#writing = this.#writing.catch(() => undefined).then(() => this.#replace(state));
    return this.#writing;
  }

  async #replace(state: Pick<HuntState, 'finished' | 'seconds' | 'raw'>): Promise<void> {
    const beside = `${this.path}.${process.pid}.new`;
    try {
      await mkdir(join(this.path, '..'), { recursive: true });
      await writeFile(beside, `${JSON.stringify({ format, ...this.name, ...state }, undefined, 2)}\n`);
      await rename(beside, this.path);
    } catch (error) {
      await rm(beside, { force: true }).catch(() => undefined);
      throw new IsoldeError('file-system', `cannot write ${this.path}: ${errorText(error)}`, {
        cause: error,
      });
    }
  }
}
