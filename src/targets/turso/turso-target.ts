/**
 * Turso, a rewrite of SQLite. `turso:` tests its WAL mode, `turso:?mode=mvcc` its multi-version mode, where generated
 * transactions begin with BEGIN CONCURRENT: a plain BEGIN allows one writer at a time. `?package=NAME` takes another installed version.
 */
import {
  choose,
  fileTarget,
  loadDriver,
  missingDriver,
  packageVersion,
  parseEmbeddedUrl,
  scratchParent,
} from '../embedded/index.js';
import type { Target, TargetLevel, TargetOpener } from '../target.js';
import { type TursoMode, type TursoModule, tursoAbilities, tursoEngine } from './turso-engine.js';

const defaultPackage = '@tursodatabase/database';

const levels: Readonly<Record<TursoMode, TargetLevel>> = {
  wal: { level: 'serializable', contract: 'turso:serializable+wal', begin: 'BEGIN' },
  mvcc: {
    level: 'snapshot',
    contract: 'turso:snapshot+mvcc',
    begin: 'BEGIN CONCURRENT',
    plainBeginDiffers: true,
  },
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
    const turso = (await loadDriver(name, options.packageFolder)) as unknown as TursoModule;
    const { owner, packageFolder } = options;
    const version = packageVersion(name, packageFolder);
    return openTurso(turso, { url, mode, parentFolder, owner, version });
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
  const { url, mode, parentFolder, owner, version } = place;
  return fileTarget({
    engine: tursoEngine(turso, mode, await tursoAbilities(turso, mode)),
    stamp: { name: 'turso', version, url, settings: { journal_mode: mode } },
    title: 'Turso',
    level: levels[mode],
    parentFolder,
    owner,
  });
}
