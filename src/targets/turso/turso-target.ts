/**
 * Turso, a rewrite of SQLite. `turso:` tests its WAL mode, `turso:?mode=mvcc` its multi-version mode, where a
 * plain BEGIN becomes BEGIN CONCURRENT. `?package=NAME` takes another installed version.
 */
import { IsoldeError } from '../../errors.js';
import {
  choose,
  FileScratch,
  leftoversIn,
  loadDriver,
  missingDriver,
  packageVersion,
  parseEmbeddedUrl,
  scratchParent,
  sweepLeftovers,
} from '../embedded/index.js';
import type { Scratch, Target, TargetLevel, TargetOpener } from '../target.js';
import { type TursoMode, type TursoModule, tursoAbilities, tursoEngine } from './turso-engine.js';

const defaultPackage = '@tursodatabase/database';

const levels: Readonly<Record<TursoMode, TargetLevel>> = {
  wal: { level: 'serializable', contract: 'turso:serializable+wal', begin: 'BEGIN' },
  mvcc: { level: 'snapshot', contract: 'turso:snapshot+mvcc', begin: 'BEGIN CONCURRENT' },
};

/** Why Turso cannot be used, or undefined when it can. */
export function tursoAvailable(): string | undefined {
  return missingDriver(defaultPackage);
}

export const tursoDriver: TargetOpener = {
  async open(url, options) {
    const { path, parameters } = parseEmbeddedUrl(url, ['mode', 'mvcc', 'package']);
    const asked = parameters.mvcc === undefined ? parameters.mode : 'mvcc';
    const mode = choose<TursoMode>(url, 'mode', asked, ['wal', 'mvcc']);
    const parentFolder = scratchParent(url, path, options.scratchFolder);
    const name = parameters.package ?? defaultPackage;
    const turso = (await loadDriver(name)) as unknown as TursoModule;
    const { owner } = options;
    return openTurso(turso, { url, mode, parentFolder, owner, version: packageVersion(name) });
  },
};

interface TursoPlace {
  readonly url: string;
  readonly mode: TursoMode;
  readonly parentFolder: string;
  readonly owner?: number | undefined;
  readonly version: string;
}

async function openTurso(turso: TursoModule, place: TursoPlace): Promise<Target> {
  const engine = tursoEngine(turso, place.mode, await tursoAbilities(turso, place.mode));
  const level = levels[place.mode];
  const scratches = new Set<FileScratch>();
  const scratchOptions = {
    engine,
    parentFolder: place.parentFolder,
    level: level.level,
    owner: place.owner,
    onDrop: (dropped: FileScratch) => scratches.delete(dropped),
  };
  let closed = false;
  let swept: Promise<void> | undefined;
  return {
    name: 'turso',
    dialect: 'sqlite',
    stamp: { name: 'turso', version: place.version, url: place.url, settings: { journal_mode: place.mode } },
    levels: [level],
    defaultLevel: level.level,
    features: {
      conflicts: 'fail',
      counts: 'matched',
      lockingReads: false,
      savepoints: true,
      errorDoomsTransaction: false,
      transactionalDdl: true,
      cancel: false,
    },
    reach: async () => ({ kind: 'scratch' }),
    ...leftoversIn(place.parentFolder),
    async createScratch(): Promise<Scratch> {
      if (closed) throw new IsoldeError('usage', 'The Turso target is closed');
      swept ??= sweepLeftovers(place.parentFolder);
      await swept;
      const scratch = await FileScratch.create(scratchOptions);
      scratches.add(scratch);
      return scratch;
    },
    async adoptScratch(namespace): Promise<Scratch> {
      const scratch = await FileScratch.adopt(scratchOptions, namespace);
      scratches.add(scratch);
      return scratch;
    },
    async close(): Promise<void> {
      closed = true;
      await Promise.all([...scratches].map((scratch) => scratch.drop()));
    },
  };
}
