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
import type { BurstProgram } from './burst-program.js';
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
      ? 'One session alone breaks it, too: it is no isolation bug.'
      : 'Sessions at the same time break it in some runs, one session alone does not.',
    '',
    '| runs | broken | outcomes |',
    '|---|---|---|',
    ...ratesOf(file).map(
      ([what, { runs, broken, outcomes }]) =>
        `| ${escapeMarkdown(what)} | ${broken} of ${runs} | ${outcomes.map(({ text, count }) => `${count} × ${escapeMarkdown(text)}`).join(', ')} |`,
    ),
    '',
    ...(file.uncompared === undefined ? [] : [`${escapeMarkdown(noComparison(file.uncompared))}.`, '']),
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
  const { sessions, repeats, without = [] } = reduced;
  const left = without.map((part) => ` --without ${part}`).join('');
  return `npx isolde burst URL --level ${shortLevel(level)} --program ${program} --form ${form}${left} --sessions ${sessions} --repeats ${repeats}`;
}

/** The kinds of runs, each with its rate, for people. */
export function ratesOf(found: BurstFinding): readonly (readonly [what: string, rate: BurstRate])[] {
  const { size, rate, serial, control, reduced } = found;
  return [
    [`${size.sessions} sessions × ${size.repeats}`, rate],
    ['one session, one after another', serial],
    ...(control === undefined ? [] : [[`control${named(control.by)}`, control] as const]),
    [`reduced to ${sizeText(reduced)}`, reduced.rate],
  ];
}

/** Why nothing was compared, for people. */
export const noComparison = (why: string): string => `no comparison with another database: ${why}`;

const named = (by: string | undefined) => (by === undefined ? '' : `, ${by}`);

/** A burst's size, and what is left out of it. */
export function sizeText({ sessions, repeats, without = [] }: BurstFinding['reduced']): string {
  const left = without.length === 0 ? '' : ` without ${without.join(', ')}`;
  return `${sessions} sessions × ${repeats}${left}`;
}

/**
 * What is sent, at the reduced size: of each session the first transactions that together show every part that is left, of two sessions and
 * of those further ones that send something more.
 */
function shownSql({ program: name, form, reduced, target }: BurstFinding, dialect: Dialect): string {
  const program = burstPrograms.find((each) => each.name === name)!;
  const burst = { program, form, without: reduced.without };
  const { setup, sessions } = burstCase(burst, { name: target.name, dialect }, reduced, false);
  const seen = new Set<string>();
  const parts = sessions.flatMap(({ name: who, statements }, i) => {
    const shown = telling(transactionsIn(statements), program);
    const isMore = shown.parts.some((part) => !seen.has(part));
    for (const part of shown.parts) seen.add(part);
    return i < 2 || isMore ? [`-- ${who}`, ...shown.transactions.flat().map(ended)] : [];
  });
  return [...setup.map(ended), ...parts, '-- after all of them', ...program.final.map(ended)].join('\n');
}

/** The statements of a session by transaction; one that is not begun is a transaction alone. */
function transactionsIn(statements: readonly string[]): readonly (readonly string[])[] {
  const transactions: string[][] = [];
  let open = false;
  for (const sql of statements) {
    if (open) transactions.at(-1)!.push(sql);
    else transactions.push([sql]);
    open = sql === 'BEGIN' || (open && sql !== 'COMMIT' && sql !== 'ROLLBACK');
  }
  return transactions;
}

/** The first two transactions, and those behind them that show a part of the program which none before has shown. */
function telling(transactions: readonly (readonly string[])[], { parts: all = {} }: BurstProgram) {
  // Where a transaction is one text, parts are inside of it.
  const known = Object.entries(all).map(
    ([part, { source }]) => [part, new RegExp(source.replace(/^\^/, '\\b'))] as const,
  );
  const seen = new Set<string>();
  const told = transactions.filter((statements, i) => {
    const own = known.filter(([, found]) => statements.some((sql) => found.test(sql)));
    const isMore = own.some(([part]) => !seen.has(part));
    for (const [part] of own) seen.add(part);
    return i < 2 || isMore;
  });
  return { transactions: told, parts: [...seen] };
}

const ended = (sql: string) => `${sql};`;
