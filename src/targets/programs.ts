/**
 * Where the programs of server engines are found: in the folders that `scripts/engines` fills, in PATH, or where servers usually lie.
 */
import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { isOfSeries } from '../versions.js';

/** The folder that `scripts/engines` puts an engine into. */
export function engineFolder(
  name = '',
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string {
  const cache =
    environment.ISOLDE_CACHE || join(environment.XDG_CACHE_HOME || join(homedir(), '.cache'), 'isolde');
  return join(cache, 'servers', name);
}

/** A program of an engine that `scripts/engines` provided; undefined: it did not. */
export function providedProgram(engine: string, program: string): string | undefined {
  const path = join(engineFolder(engine), 'bin', program);
  return isExecutable(path) ? path : undefined;
}

/** The version that `scripts/engines` noted of an engine it provided. */
export function providedVersion(engine: string): string | undefined {
  try {
    return readFileSync(join(engineFolder(engine), 'version'), 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** A line of `scripts/engines`: the name it has there, and the versions that URLs can name once it was run. */
export interface ScriptLine {
  readonly name: string;
  readonly series: string;
}

/** Those of an engine's lines that were not run. */
export function absentLines(lines: readonly ScriptLine[]): readonly ScriptLine[] {
  return lines.filter(({ name }) => providedVersion(name) === undefined);
}

/** How a version gets here that nothing was provided of: the engine's line of the script, or which lines there are. */
export function howToProvide(lines: readonly ScriptLine[], asked: string): string {
  const fitting = lines.find(({ series }) => isOfSeries(asked, series) || isOfSeries(series, asked));
  if (fitting !== undefined && providedVersion(fitting.name) === undefined)
    return `get it with scripts/engines ${fitting.name}`;
  const all = lines.map(({ name, series }) => `${name} (${providedVersion(name) ?? series})`);
  return `scripts/engines has ${all.join(', ') || 'none of it'}`;
}

/** A server that `scripts/engines` provided. */
export interface ProvidedServer {
  /** As the script calls it: `mariadb-11.8`. */
  readonly name: string;
  /** As its package has it: `11.8.9-1`. */
  readonly version: string;
  /** Where its programs are. */
  readonly binaries: string;
}

/** The servers of an engine that `scripts/engines` provided: those named after it. */
export function providedServers(engine: string): readonly ProvidedServer[] {
  return namesIn(engineFolder())
    .filter((name) => name === engine || name.startsWith(`${engine}-`))
    .flatMap((name) => {
      const version = providedVersion(name);
      return version === undefined ? [] : [{ name, version, binaries: join(engineFolder(name), 'bin') }];
    });
}

/** The one that is of a version, `11.8.9`, or of a series, `11.8`. */
export function findProvidedServer(engine: string, asked: string): ProvidedServer | undefined {
  return providedServers(engine).find(({ version }) => answersTo(version, asked));
}

/** Whether a version that a package or a program names is the one asked for, or of the series. */
export function answersTo(version: string, asked: string): boolean {
  return version === asked || isOfSeries(releaseOf(version), asked);
}

/** `11.8.9` of a package's version `11.8.9+ds-4`. */
export function releaseOf(version: string): string {
  return version.replace(/[-+~].*$/, '');
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

/** The paths at which a program of this name is installed, in the order of PATH. */
export function installedPrograms(name: string): readonly string[] {
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    '/usr/sbin',
    '/usr/local/sbin',
    '/usr/local/bin',
  ];
  return folders
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .filter(isExecutable);
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
