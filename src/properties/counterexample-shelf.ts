/**
 * Where counterexamples are kept: one folder each in `properties/` of the store, named after the engine, the property and
 * what failed, so that the same failure lands in the same folder.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, IsoldeError } from '../errors.js';
import type { Dialect } from '../sql/index.js';
import { oneLine } from '../visible.js';
import { type CounterexampleFile, parseCounterexample, printCounterexample } from './counterexample-file.js';
import { printPlan } from './interaction.js';
import type { Counterexample } from './test-properties.js';

/** The name of a counterexample's folder. */
export function counterexampleId({ target, failure }: Pick<Counterexample, 'target' | 'failure'>): string {
  const engine = JSON.stringify([target.name, target.settings?.fault ?? null, failure.identity]);
  const hash = createHash('sha256').update(engine).digest('hex').slice(0, 8);
  const words = `${target.name}-${failure.property ?? failure.kind}`.toLowerCase();
  return `${words.replaceAll(/[^a-z0-9]+/g, '-').slice(0, 60)}-${hash}`;
}

/** Writes a counterexample; a folder of the same name is replaced as a whole. Returns the folder. */
export function keepCounterexample(
  store: string,
  found: Counterexample,
  dialect: Dialect,
  replayOf: (folder: string) => string,
): string {
  const folder = join(store, 'properties', counterexampleId(found));
  const fresh = `${folder}.new-${process.pid}`;
  const { plan, level, failure } = found;
  try {
    mkdirSync(fresh, { recursive: true });
    const file = { plan, dialect, level, identity: failure.identity, message: failure.message };
    writeFileSync(join(fresh, 'counterexample.json'), printCounterexample(file));
    writeFileSync(join(fresh, 'plan.sql'), printPlan(plan));
    writeFileSync(join(fresh, 'original.sql'), printPlan(found.original));
    writeFileSync(join(fresh, 'report.md'), reportCounterexample(found, replayOf(folder)));
    rmSync(folder, { recursive: true, force: true });
    renameSync(fresh, folder);
  } catch (cause) {
    rmSync(fresh, { recursive: true, force: true });
    throw new IsoldeError('file-system', `cannot write ${folder}: ${errorText(cause)}`, { cause });
  }
  return folder;
}

export interface KeptCounterexample {
  readonly id: string;
  readonly folder: string;
  readonly file: CounterexampleFile;
}

/** The counterexamples of a store; files that cannot be read are problems, and hide no others. */
export async function listCounterexamples(
  store: string,
): Promise<{ readonly kept: readonly KeptCounterexample[]; readonly problems: readonly string[] }> {
  const shelf = join(store, 'properties');
  const names = await readdir(shelf).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw new IsoldeError('file-system', `cannot read ${shelf}: ${errorText(error)}`, { cause: error });
  });
  const kept: KeptCounterexample[] = [];
  const problems: string[] = [];
  for (const id of names.filter((name) => !name.includes('.new-')).sort()) {
    const [folder, name] = [join(shelf, id), counterexampleFile(store, id)];
    try {
      kept.push({ id, folder, file: parseCounterexample(await readFile(name, 'utf8'), name) });
    } catch (error) {
      problems.push(`${name}: ${errorText(error)}`);
    }
  }
  return { kept, problems };
}

/** Where a counterexample is kept. */
export function counterexampleFile(store: string, id: string): string {
  return join(store, 'properties', id, 'counterexample.json');
}

/** What was found, for a person: the failure, the statements, the answers, the line that shows it again. */
export function reportCounterexample(found: Counterexample, replay: string): string {
  const { failure, target, level, plan, original, outcome } = found;
  const answers = outcome.sent.slice(-5).map(({ session, sql, answer }) => {
    const said = answer.error?.message ?? JSON.stringify(answer.rows ?? answer.matched ?? 'done');
    return `    session ${session}: ${oneLine(sql)}\n      ${oneLine(said).slice(0, 2000)}`;
  });
  return [
    `# ${target.name} ${target.version}: ${oneLine(failure.message)}`,
    '',
    `Level ${level}. ${plan.interactions.length} interactions, shrunk from ${original.interactions.length}; ` +
      `${found.trials} trials${found.minimal ? '' : ', not to the end'}.`,
    '',
    '```sql',
    printPlan(plan).trimEnd(),
    '```',
    '',
    'The last answers:',
    '',
    ...answers,
    '',
    `Replay: \`${replay}\``,
    '',
  ].join('\n');
}
