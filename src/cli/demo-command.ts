/** `isolde demo`: the first thing a newcomer runs. A short hunt in the embedded database that ends with a real bug. */

import type { Command } from 'commander';
import { countStatements } from '../cases/index.js';
import { explainOrdered } from '../check/index.js';
import { renderInterleaving } from '../histories/index.js';
import { duration, hunt, openShelf, type Shelved } from '../hunt/index.js';
import { openTarget } from '../targets/index.js';
import { counted } from '../words.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';

/**
 * Rounds are the same for everybody; the release under test decides what they find. This seed first meets an UPDATE of a row
 * that is deleted already (DuckDB #17223): few bugs need less explanation.
 */
const seed = 'start';
const mostMs = 35_000;

export function demoCommand(program: Command, context: CliContext, exit: (code: ExitCode) => void): void {
  program
    .command('demo')
    .description('hunt in the embedded database for a minute at most, and show the bug that was found')
    .option('--store <folder>', 'where bugs are kept', '.isolde')
    .action(async ({ store }: { readonly store: string }) => exit(await demo(store, context)));
}

async function demo(store: string, context: CliContext): Promise<ExitCode> {
  const done = new AbortController();
  const stop = () => done.abort();
  context.signal.addEventListener('abort', stop);
  let shown: Shelved | undefined;
  const shelf = await openShelf(store);
  try {
    const { counters } = await hunt({
      open: () => openTarget(undefined),
      shelf,
      seed,
      forMs: mostMs,
      signal: done.signal,
      replayLine: (round) => `npx isolde hunt --seed ${seed} --rounds ${round}..${round}`,
      onEvent: (event) => {
        if (event.kind === 'opened') {
          const { version } = event.target.stamp;
          context.out(
            `Isolde runs small random transactions against each other in DuckDB ${version}, a database that promises\nsnapshot isolation, and checks every answer against that promise.\n`,
          );
        }
        if (event.kind !== 'bug') return;
        shown ??= event.shelved;
        stop();
      },
    });
    if (shown === undefined) {
      context.out(
        `${counters.rounds} rounds in ${duration(counters.seconds)}, and every one kept the promise.`,
      );
      return exitCodes.nothingFound;
    }
    context.out(
      `${counted(counters.rounds, 'round')} and ${duration(counters.seconds)} later there is a bug of this release. It was replayed ${shown.bug.reproduced.runs} times of ${shown.bug.reproduced.runs}\nand cut down from ${shown.bug.raw?.operations} statements to ${countStatements(shown.bug.case)}:\n`,
    );
    showBug(shown, context);
    return exitCodes.found;
  } finally {
    context.signal.removeEventListener('abort', stop);
    await shelf.close();
  }
}

function showBug({ bug, files }: Shelved, { out, colors, width }: CliContext): void {
  const style = { heading: colors.bold, result: colors.cyan, error: colors.red };
  out(bug.case.setup.map((sql) => colors.dim(`${sql};`)).join('\n'));
  out(`\n${renderInterleaving(bug.history, { width, style, numbered: true })}\n`);
  out(`${colors.bold(colors.red(bug.title))}`);
  out(explainOrdered(bug.finding));
  out(`It breaks ${bug.contract} (${bug.clause}): ${bug.sources[0]?.url ?? ''}\n`);
  out(
    ['Reports, ready to be filed:', ...files.map((file) => `  ${file}`), `Again: ${bug.replay}`].join('\n'),
  );
  out('Next:  isolde hunt mariadb: --for 2m    isolde probe postgres:    isolde bugs list    isolde --help');
}
