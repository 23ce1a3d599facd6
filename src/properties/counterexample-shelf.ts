/**
 * Where counterexamples are kept: one folder each in `properties/` of the store, named after the engine, the property and
 * what failed, so that the same failure lands in the same folder.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Kept, listKept, replaceFolder } from '../kept-folders.js';
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
  const { plan, level, failure } = found;
  const file = { plan, dialect, level, identity: failure.identity, message: failure.message };
  replaceFolder(folder, {
    'counterexample.json': printCounterexample(file),
    'plan.sql': printPlan(plan),
    'original.sql': printPlan(found.original),
    'report.md': reportCounterexample(found, replayOf(folder)),
  });
  return folder;
}

export type KeptCounterexample = Kept<CounterexampleFile>;

/** The counterexamples of a store; files that cannot be read are problems, and hide no others. */
export function listCounterexamples(store: string) {
  return listKept(join(store, 'properties'), 'counterexample.json', parseCounterexample);
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
