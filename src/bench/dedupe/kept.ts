/**
 * What an evaluation has found out so far, in a file of lines: one that was cut short goes on from there. An answer is kept under everything that it depends on, the
 * program among it: a set that grew, other reports or other code ask again.
 */
import { createHash } from 'node:crypto';
import { appendFile, mkdir, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export class Kept {
  private constructor(
    private readonly file: string | undefined,
    private readonly program: string,
    private readonly known: Map<string, unknown>,
  ) {}

  /** No file: nothing is kept. `program`: the folder of the code whose answers they are. */
  static async open(file: string | undefined, program: string): Promise<Kept> {
    const known = new Map<string, unknown>();
    const text = file === undefined ? '' : await readFile(file, 'utf8').catch(() => '');
    for (const line of text.split('\n')) {
      try {
        const { key, value } = JSON.parse(line) as { readonly key: string; readonly value: unknown };
        known.set(key, value);
      } catch {
        // Cut off by the end of a run: asked again.
      }
    }
    return new Kept(file, file === undefined ? '' : await digestOf(program), known);
  }

  async of<T>(question: readonly unknown[], find: () => Promise<T>): Promise<T> {
    if (this.file === undefined) return find();
    const key = createHash('sha256')
      .update(JSON.stringify([this.program, ...question], mapsAsLists))
      .digest('hex');
    if (this.known.has(key)) return this.known.get(key) as T;
    const value = await find();
    this.known.set(key, value);
    await mkdir(dirname(this.file), { recursive: true });
    await appendFile(this.file, `${JSON.stringify({ key, value })}\n`);
    return value;
  }
}

const mapsAsLists = (_: string, value: unknown): unknown => (value instanceof Map ? [...value] : value);

/** What only prints answers. */
const printing = /(^|[\\/])(figures-page|explanations|dedupe-bench)\.js$/;

/** A digest of all programs in a folder that an answer may depend on. */
async function digestOf(folder: string): Promise<string> {
  const hash = createHash('sha256');
  const names = (await readdir(folder, { recursive: true }))
    .filter((name) => name.endsWith('.js') && !printing.test(name))
    .sort();
  for (const name of names) hash.update(name).update(await readFile(join(folder, name)));
  return hash.digest('hex');
}
