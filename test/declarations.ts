/** The types of the package as its users see them, for tests of what is exported. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const tsc = resolve('node_modules/typescript/bin/tsc');

/** Compiles files in a folder of their own; returns what the compiler says, and the folder's text files it made. */
export async function compile(
  files: Readonly<Record<string, string>>,
  options: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly problems: string; readonly made: ReadonlyMap<string, string> }> {
  const folder = await mkdtemp(join(tmpdir(), 'isolde-compile-'));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const config = {
      extends: resolve('tsconfig.json'),
      compilerOptions: {
        paths: { 'isolde-db': [resolve('src/index.ts')] },
        typeRoots: [resolve('node_modules/@types')],
        rootDir: '/',
        ...options,
      },
      include: [],
      files: Object.keys(files),
    };
    await writeFile(join(folder, 'package.json'), '{"type": "module"}');
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const problems = await promisify(execFile)(process.execPath, [
      tsc,
      '-p',
      folder,
      '--pretty',
      'false',
    ]).then(
      () => '',
      (error: { readonly stdout?: string }) => error.stdout ?? String(error),
    );
    const made = new Map<string, string>();
    for (const name of await readdir(folder, { recursive: true })) {
      if (name.endsWith('.d.ts')) made.set(name, await readFile(join(folder, name), 'utf8'));
    }
    return { problems, made };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
