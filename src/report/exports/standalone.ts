/** How the stand-alone script of a bug (`node-script.ts`) is started, and what it needs. */
import { findDeclaration } from '../../targets/index.js';
import type { Bug } from '../bug.js';

export interface Standalone {
  readonly file: string;
  /** What must be installed before: a command, or words. */
  readonly needs: string;
  readonly command: string;
}

/** Undefined: the engine has no driver for Node. */
export function scriptOf({ target }: Pick<Bug, 'target'>): Standalone | undefined {
  const driver = findDeclaration(target.name)?.reproDriver;
  if (driver === undefined) return undefined;
  return {
    file: 'repro.mjs',
    needs: driver.needs ?? `npm install ${driver.packages.join(' ')}`,
    command: `node repro.mjs${driver.argument === '' ? '' : ` ${driver.argument}`}`,
  };
}

/** The script that shows a bug without Isolde; a fault that Isolde injected is not in the engine. */
export function standaloneOf(bug: Pick<Bug, 'target'>): Standalone | undefined {
  return bug.target.settings?.fault === undefined ? scriptOf(bug) : undefined;
}

/** What the script's exit codes say. */
export const exitCodesText =
  'Exit code, fit for git bisect run: 1 the bug shows, 0 it does not, 125 it could not be run or this script cannot tell.';
