/** Which servers of an engine of the family are on this machine, for `isolde engines`. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { FoundEngine } from '../declaration.js';
import { absentLines, providedServers, releaseOf, type ScriptLine } from '../programs.js';

export interface ServerSearch {
  /** The engine, as URLs and `scripts/engines` name it. */
  readonly name: string;
  /** What the script brings of it. */
  readonly lines: readonly ScriptLine[];
  /** The program that `NAME:` runs. */
  readonly program: string | undefined;
  /** Why there is none. */
  readonly missing: string | undefined;
  /** The option that makes it print its version. */
  readonly versionOption: string;
}

export async function findServers({
  name,
  lines,
  program,
  missing,
  versionOption,
}: ServerSearch): Promise<readonly FoundEngine[]> {
  const url = `${name}:`;
  const usual: FoundEngine =
    program === undefined || missing !== undefined
      ? { url, missing: missing ?? 'its program is not there' }
      : { url, version: await versionOf(program, versionOption), from: program };
  const provided = providedServers(name).map(
    ({ version, binaries }): FoundEngine => ({
      url: `${name}@${releaseOf(version)}:`,
      version,
      from: binaries,
    }),
  );
  const absent = absentLines(lines)
    // What NAME: needs is said there.
    .filter((line) => line.name !== name || !('missing' in usual))
    .map((line): FoundEngine => {
      return { url: `${name}@${line.series}:`, missing: `get it with scripts/engines ${line.name}` };
    });
  return [usual, ...provided, ...absent];
}

/** What a server program says its version is. */
export async function versionOf(program: string, option: string): Promise<string> {
  const { stdout } = await promisify(execFile)(program, [option]).catch(() => ({ stdout: '' }));
  return /(?:Ver|Release Version:)\s+v?(\S+)/.exec(stdout)?.[1] ?? 'unknown version';
}
