/** Runs exported files the way their receivers would. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Bug } from '../bug.js';
import { exportForms } from './index.js';

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The text of an exported file. */
export function exported(bug: Bug, file: string): string {
  const files = exportForms.flatMap((form) => (form.unfit(bug) === undefined ? form.files(bug) : []));
  const found = files.find(({ name }) => name === file);
  if (found === undefined)
    throw new Error(`${file} is not among ${files.map(({ name }) => name).join(', ')}`);
  return found.text;
}

export function runProgram(
  program: string,
  args: readonly string[],
  options: {
    readonly input?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly cwd?: string;
  } = {},
): Promise<Ended> {
  return new Promise((done) => {
    const child = execFile(
      program,
      args,
      { timeout: 60_000, cwd: options.cwd, env: { ...process.env, ...options.env } },
      (error, out, err) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        done({ code, out, err });
      },
    );
    child.stdin?.end(options.input ?? '');
  });
}

/** Runs the stand-alone script in a folder that has nothing but the installed drivers. */
export async function runNodeScript(bug: Bug, ...args: readonly string[]): Promise<Ended> {
  const folder = await mkdtemp(join(tmpdir(), 'isolde-export-'));
  try {
    await symlink(resolve('node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'repro.mjs'), exported(bug, 'repro.mjs'));
    return await runProgram(process.execPath, ['repro.mjs', ...args], { cwd: folder });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
