/** What a fleet does and has found, for people and for programs. */
import { setTimeout as delay } from 'node:timers/promises';
import { describeClaim } from '../contracts/index.js';
import {
  type BatchLine,
  type BatchResults,
  batchLine,
  batchResults,
  type CellAnswer,
  cellsOf,
  type FleetStatus,
  fleetStatus,
  isOver,
  logLines,
  type ReducedAnswer,
} from '../fleet/index.js';
import { noRoundDecided, renderCounters, renderUndecided } from '../hunt/index.js';
import { affectedBy, affectedTable } from '../matrix/index.js';
import { type SharedDatabase, SharedStore } from '../store/index.js';
import { oneLine } from '../visible.js';
import { counted } from '../words.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import { type DbFlags, withQueue } from './fleet-database.js';
import { plainTable } from './plain-table.js';

const lookMs = 500;

export async function showStatus(flags: DbFlags, context: CliContext): Promise<ExitCode> {
  const status = await withQueue(flags, context, (_, database) => fleetStatus(database));
  if (flags.json === true) {
    context.out(JSON.stringify(status, null, 2));
    return exitCodes.nothingFound;
  }
  context.out(summary(status));
  for (const { id, name, has, slots, running, alive, silent } of status.workers) {
    const heard = alive ? '' : `, not heard of for ${Math.round(silent)} s`;
    context.out(
      `worker ${id} ${oneLine(name)}: ${running} of ${counted(slots, 'slot')} busy${heard}; ${oneLine(shownNeeds(has).join(', '))}`,
    );
  }
  for (const batch of status.batches) context.out(describeBatch(batch));
  return exitCodes.nothingFound;
}

/** What a worker has, in words for people: without the series (`tidb@6.6`) of versions that are named. */
function shownNeeds(has: readonly string[]): string[] {
  const needs = has.filter((each) => !each.startsWith('trial ') && each !== 'check');
  const isSeries = (need: string) =>
    /^engine \w+@/.test(need) && needs.some((other) => other.startsWith(`${need}.`));
  return needs.filter((need) => !isSeries(need)).map((each) => each.replace(/^\w+ /, ''));
}

/** One line. */
export function summary({ workers, batches }: FleetStatus): string {
  const alive = workers.filter((worker) => worker.alive);
  const sum = (pick: (batch: BatchLine) => number) => batches.reduce((all, batch) => all + pick(batch), 0);
  const slots = alive.reduce((all, worker) => all + worker.slots, 0);
  return `${counted(alive.length, 'worker')} with ${counted(slots, 'slot')}; jobs: ${sum((b) => b.ready)} ready, ${sum((b) => b.running)} running, ${sum((b) => b.done)} done, ${sum((b) => b.failed)} failed`;
}

function describeBatch({ id, title, ready, running, done, failed, cancelled, stranded }: BatchLine): string {
  const states = Object.entries({ ready, running, done, failed, cancelled }).filter(([, count]) => count > 0);
  const nobody =
    stranded.length === 0
      ? ''
      : `; no worker has ${oneLine(stranded.map((each) => each.replace(/^\w+ /, '')).join(', '))}`;
  return `batch ${id} ${oneLine(title)}: ${states.map(([state, count]) => `${count} ${state}`).join(', ')}${nobody}`;
}

export async function showLogs(
  batch: string | undefined,
  flags: DbFlags & { readonly follow?: boolean },
  context: CliContext,
): Promise<ExitCode> {
  return withQueue(flags, context, async (_, database) => {
    const of = batch === undefined ? {} : { batch: (await batchLine(database, batch)).id };
    for (let after = '0'; ; ) {
      const lines = await database.persistent(() => logLines(database, { ...of, after }));
      for (const { at, job, worker, line } of lines) {
        const who = [
          ...(job === null ? [] : [`job ${job}`]),
          ...(worker === null ? [] : [`worker ${worker}`]),
        ];
        context.out(`${at} ${who.join(', ')}${who.length > 0 ? ': ' : ''}${oneLine(line)}`);
      }
      after = lines.at(-1)?.id ?? after;
      if (flags.follow !== true || context.signal.aborted) return exitCodes.nothingFound;
      await delay(lookMs, undefined, { signal: context.signal }).catch(() => undefined);
    }
  });
}

export function showResults(
  batch: string | undefined,
  flags: DbFlags,
  context: CliContext,
): Promise<ExitCode> {
  return withQueue(flags, context, async (_, database) =>
    print(await batchResults(database, batch), { database, flags, context }),
  );
}

interface Place {
  readonly database: SharedDatabase;
  readonly flags: DbFlags;
  readonly context: CliContext;
}

/** Waits until all jobs of a batch have ended, and prints what came of them. */
export async function follow(batch: string, place: Place): Promise<ExitCode> {
  const { database, context } = place;
  let last = '';
  for (;;) {
    const line = await database.persistent(() => batchLine(database, batch));
    const text = describeBatch(line);
    if (text !== last) context.err(text);
    last = text;
    if (isOver(line) || context.signal.aborted) break;
    await delay(lookMs, undefined, { signal: context.signal }).catch(() => undefined);
  }
  return print(await database.persistent(() => batchResults(database, batch)), place);
}

async function print(results: BatchResults, { database, flags, context }: Place): Promise<ExitCode> {
  const { batch, counters, bugs, checks, cells, failed, reductions } = results;
  const affected = affectedBy(await cellsOf(cells));
  if (flags.json === true) context.out(JSON.stringify({ ...results, affected }, null, 2));
  else {
    context.err(describeBatch(batch));
    if (counters !== undefined) {
      context.err(renderCounters(counters, bugs.length));
      for (const line of renderUndecided(counters)) context.err(line);
    }
    await printBugs(results, { database, flags, context });
    for (const { file, valid } of checks) context.out(`${file}\t${valid}`);
    for (const cell of cells) context.out(describeCell(cell));
    if (affected.some(({ tried }) => tried > 1)) context.out(`\n${plainTable(affectedTable(affected))}`);
    for (const reduced of reductions) printReduced(reduced, context);
  }
  for (const { id, problem } of failed) context.err(`isolde: job ${id} failed: ${oneLine(problem)}`);
  const shows = cells.some(({ outcome }) => outcome === 'shows');
  if (bugs.length > 0 || reductions.length > 0 || shows || checks.some(({ valid }) => valid === false))
    return exitCodes.found;
  const open = !isOver(batch) || batch.failed + batch.cancelled > 0;
  const undecided =
    cells.some(({ outcome }) => outcome !== 'does-not-show') ||
    (counters !== undefined && noRoundDecided(counters));
  return open || undecided || checks.some(({ valid }) => valid === 'unknown')
    ? exitCodes.undecided
    : exitCodes.nothingFound;
}

function describeCell({ subject, target, level, outcome, why, shown, runs }: CellAnswer): string {
  const said =
    outcome === 'shows' ? `${shown} of ${counted(runs, 'run')}` : outcome === 'does-not-show' ? '' : why;
  return [subject, target, level ?? '', outcome, said].map(oneLine).join('\t').trimEnd();
}

function printReduced(reduced: ReducedAnswer, { err, file }: CliContext): void {
  const { operations, trials, remote, shown, runs, minimal } = reduced;
  err(
    `${counted(operations, 'operation')}${minimal ? ', 1-minimal' : ''}, shown in ${shown} of ${runs} runs; ${counted(trials, 'trial')}, ${remote} on other workers`,
  );
  file(reduced.script);
}

async function printBugs({ bugs, batch }: BatchResults, { database, context }: Place): Promise<void> {
  if (batch.kind === 'hunt' && bugs.length === 0) context.out('nothing found');
  if (bugs.length === 0) return;
  const listed = await new SharedStore(database).list();
  for (const problem of listed.problems) context.err(`isolde: ${problem}`);
  const stored = new Map(listed.bugs.map((bug) => [bug.id, bug]));
  for (const { id, jobs, isNew } of bugs) {
    const bug = stored.get(id);
    context.out(`${context.colors.bold(id)}  ${isNew ? 'new, ' : ''}in ${counted(jobs, 'job')}`);
    if (bug !== undefined)
      context.out(`  ${oneLine(bug.title)}\n  ${describeClaim(bug)}; again: ${oneLine(bug.replay)}`);
  }
}
