/**
 * Learning from answers: a target that refuses a statement as unknown syntax or as unsupported tells that one of its
 * features is missing; a statement that ran tells that all of its features are there.
 *
 * 1. Features of statements that ran are proven.
 * 2. A refused statement is a set of suspects: its features that are not proven. One suspect alone is guilty.
 * 3. Sets that hold a guilty one are explained. Of what is left, the feature that is in most sets is taken to be guilty,
 *    until all are explained: the fewest features that could be the cause are given up.
 *
 * A feature once proven is never given up: a statement that failed with only proven features is our mistake, or the
 * engine's mood, and nothing is learned from it.
 */
import type { History } from '../histories/index.js';
import { parseStatement } from '../sql/index.js';
import type { Capabilities } from './capabilities.js';
import { allFeatures, type Feature } from './features.js';
import { featuresOf } from './statement-features.js';

/** What ran and what was refused. */
export interface Evidence {
  readonly worked: readonly string[];
  readonly refused: readonly string[];
}

/** The capabilities after one more history. */
export function learnFromHistory(capabilities: Capabilities, history: History): Capabilities {
  const worked = [...(history.header.setup ?? [])];
  const refused: string[] = [];
  for (const { sql, outcome, error } of history.operations) {
    if (sql === undefined) continue;
    if (outcome === 'ok') worked.push(sql);
    else if (error?.class === 'syntax' || error?.class === 'unsupported') refused.push(sql);
  }
  return learnFromStatements(capabilities, { worked, refused });
}

/**
 * The capabilities after a set-up that failed: no history tells of it, but the error quotes the statement. Nothing is
 * learned when it quotes none of them.
 */
export function learnFromSetup(
  capabilities: Capabilities,
  setup: readonly string[],
  message: string,
): Capabilities {
  const failed = setup.findIndex((sql) => message.includes(sql));
  if (failed < 0) return capabilities;
  return learnFromStatements(capabilities, { worked: setup.slice(0, failed), refused: [setup[failed]!] });
}

/** The capabilities after single answers. */
export function learnFromStatements(capabilities: Capabilities, { worked, refused }: Evidence): Capabilities {
  const { dialect } = capabilities;
  const features = (sql: string) => featuresOf(parseStatement(sql, dialect), dialect);
  const proven = new Set(capabilities.proven ?? []);
  for (const sql of worked) for (const feature of features(sql)) proven.add(feature);
  const guilty = new Set(capabilities.unsupported.filter((feature) => !proven.has(feature)));
  let open = refused
    .map((sql) => features(sql).filter((feature) => !proven.has(feature)))
    .filter((suspects) => suspects.length > 0);
  for (;;) {
    open = open.filter((suspects) => !suspects.some((each) => guilty.has(each)));
    if (open.length === 0) break;
    const alone = open.find(({ length }) => length === 1);
    guilty.add(alone?.[0] ?? mostFrequent(open));
  }
  const inOrder = (set: ReadonlySet<Feature>) => allFeatures.filter((feature) => set.has(feature));
  return { ...capabilities, unsupported: inOrder(guilty), proven: inOrder(proven) };
}

function mostFrequent(sets: readonly (readonly Feature[])[]): Feature {
  const counts = new Map<Feature, number>();
  for (const each of sets.flat()) counts.set(each, (counts.get(each) ?? 0) + 1);
  // The later of equals: features are found from the statement's kind inwards, and the inner ones are the rarer.
  return [...counts].reduce((best, next) => (next[1] >= best[1] ? next : best))[0];
}
