/**
 * Where broken bursts are kept: one folder each in `bursts/` of the store, as counterexamples of properties are
 * (docs/decisions/counterexamples.md). A burst has no order and shows in some runs only, so it is no bug of the store, whose cases are
 * replayed k of k times.
 *
 * The folder is named after the engine, the program and the clause broken, whatever the form: found again, it is counted.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { shortLevel } from '../../contracts/index.js';
import { fileProblem } from '../../file-problem.js';
import { withLock } from '../../folder-lock.js';
import { listKept, replaceFolder } from '../../kept-folders.js';
import { codeBlock, codeSpan, escapeMarkdown } from '../../markup.js';
import type { Dialect } from '../../sql/index.js';
import type { BurstFinding, BurstRate } from './burst.js';
import { type BurstFile, parseBurst, printBurst } from './burst-file.js';
import { burstCase } from './burst-form.js';
import { burstPrograms } from './burst-programs.js';

const fileName = 'burst.json';

/** The names by which a broken burst is known and ignored. */
export function burstNames(
  found: Pick<BurstFinding, 'target' | 'program' | 'contract' | 'clause' | 'verdict'>,
): {
  readonly id: string;
  readonly signature: string;
} {
  const { target, program, contract, clause, verdict } = found;
  const identity = [target.name, target.settings?.fault ?? null, program, contract, clause, verdict];
  const signature = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 12);
  const engine = target.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return { id: `${engine}-burst-${program}-${signature.slice(0, 8)}`, signature };
}

/** Keeps a broken burst, or counts it; hunts on one store take turns. */
export async function keepBurst(
  store: string,
  found: BurstFinding,
  { at, dialect }: { readonly at: string; readonly dialect: Dialect },
): Promise<{ readonly id: string; readonly isNew: boolean; readonly folder: string }> {
  const { id } = burstNames(found);
  const folder = join(store, 'bursts', id);
  await mkdir(store, { recursive: true }).catch((error: unknown) => {
    throw fileProblem('write', store, error);
  });
  return withLock(store, {}, async () => {
    const known = knownAt(join(folder, fileName));
    const file: BurstFile =
      known === undefined
        ? { ...found, count: 1, firstSeen: at, lastSeen: at }
        : { ...known, count: known.count + 1, lastSeen: at };
    replaceFolder(folder, { [fileName]: printBurst(file), 'report.md': reportBurst(id, file, dialect) });
    return { id, isNew: known === undefined, folder };
  });
}

/** What nobody can read is written anew. */
function knownAt(file: string): BurstFile | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return parseBurst(readFileSync(file, 'utf8'), file);
  } catch {
    return undefined;
  }
}

/** The broken bursts of a store; files that cannot be read are problems, and hide no others. */
export function listBursts(store: string) {
  return listKept(join(store, 'bursts'), fileName, parseBurst);
}

/** What was broken, how often, and what is sent. */
export function reportBurst(id: string, file: BurstFile, dialect: Dialect): string {
  const { target, level, fact, contract, clause, verdict } = file;
  const fault = target.settings?.fault === undefined ? '' : `, fault ${codeSpan(target.settings.fault)}`;
  return [
    `# ${escapeMarkdown(`${target.name} ${target.version}, ${shortLevel(level)}: burst of ${file.program}`)}`,
    '',
    `Must hold, whatever the order of the transactions: ${escapeMarkdown(fact)} (${codeSpan(contract)}, ${escapeMarkdown(clause)})${fault}.`,
    '',
    verdict === 'not isolation'
      ? 'One session alone breaks it, too: it is no matter of isolation.'
      : 'Sessions at the same time break it in some runs, one session alone does not.',
    '',
    '| runs | broken | outcomes |',
    '|---|---|---|',
    ...ratesOf(file).map(
      ([what, { runs, broken, outcomes }]) =>
        `| ${what} | ${broken} of ${runs} | ${outcomes.map(({ text, count }) => `${count} × ${escapeMarkdown(text)}`).join(', ')} |`,
    ),
    '',
    `Every session sends such transactions (${file.form}):`,
    '',
    codeBlock(shownSql(file, dialect), 'sql'),
    '',
    `Again: \`npx isolde bugs rerun ${id} --target URL\`, or \`${burstLine(file)}\``,
    '',
    `Seen ${file.count}×, first ${escapeMarkdown(file.firstSeen)}, last ${escapeMarkdown(file.lastSeen)}.`,
    '',
  ].join('\n');
}

/** The command that runs the smallest burst again. */
export function burstLine({ program, form, reduced, level }: BurstFinding): string {
  return `npx isolde burst URL --level ${shortLevel(level)} --program ${program} --form ${form} --sessions ${reduced.sessions} --repeats ${reduced.repeats}`;
}

/** The kinds of runs, each with its rate, for people. */
export function ratesOf(found: BurstFinding): readonly (readonly [what: string, rate: BurstRate])[] {
  const { size, rate, serial, control, reduced } = found;
  return [
    [`${size.sessions} sessions × ${size.repeats}`, rate],
    ['one session, one after another', serial],
    ...(control === undefined ? [] : [['control', control] as const]),
    [`reduced to ${reduced.sessions} sessions × ${reduced.repeats}`, reduced.rate],
  ];
}

function shownSql({ program: name, form, reduced }: BurstFinding, dialect: Dialect): string {
  const program = burstPrograms.find((each) => each.name === name)!;
  const size = { sessions: Math.min(2, reduced.sessions), repeats: 1 };
  const { setup, sessions } = burstCase({ program, form }, { dialect }, size, false);
  const parts = sessions.map(({ name: who, statements }) => [`-- ${who}`, ...statements.map(ended)]);
  return [...setup.map(ended), ...parts.flat(), '-- after all of them', ...program.final.map(ended)].join(
    '\n',
  );
}

const ended = (sql: string) => `${sql};`;
