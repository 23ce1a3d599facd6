/** `isolde demo`: the first thing a newcomer runs. A short hunt in the embedded database that ends with a real bug. */

import type { Command } from 'commander';
import { countStatements } from '../cases/index.js';
import { explainOrdered } from '../check/index.js';
import { describeEnvironment } from '../environment.js';
import { renderInterleaving } from '../histories/index.js';
import { duration, hunt, openShelf, replayLine, type Shelved } from '../hunt/index.js';
import { usualChoice } from '../judge/index.js';
import { contractTitle, knownLine } from '../report/index.js';
import { openTarget } from '../targets/index.js';
import { oneLine, shellWord } from '../visible.js';
import { counted } from '../words.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import { usualStore } from './existing-store.js';
import { identifyBy, knownFolder, openAllKnown } from './known-command.js';

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
    .option('--store <folder>', 'where bugs are kept', usualStore)
    .option('--json', 'print the bug as JSON')
    .addHelpText('after', '\nExit code: 0 nothing found, 1 a bug, 3 error.')
    .action(async (flags: DemoFlags) => exit(await demo(flags, context)));
}

interface DemoFlags {
  readonly store: string;
  readonly json?: boolean;
}

async function demo({ store, json }: DemoFlags, world: CliContext): Promise<ExitCode> {
  const context = json === true ? { ...world, out: world.err } : world;
  const done = new AbortController();
  const stop = () => done.abort();
  context.signal.addEventListener('abort', stop);
  let shown: Shelved | undefined;
  const shelf = await openShelf(store);
  const identify = identifyBy(await openAllKnown(knownFolder, context), false);
  try {
    const { counters } = await hunt({
      open: () => openTarget(undefined),
      shelf,
      seed,
      bursts: { share: 0 },
      forMs: mostMs,
      signal: done.signal,
      identify,
      replayLine: replayLine({ contract: usualChoice, seed }),
      environment: describeEnvironment(),
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
        `${counters.rounds} rounds in ${duration(counters.seconds)}, and ${
          counters.undecided === 0
            ? 'every one kept the promise'
            : `none broke the promise; ${counters.undecided} could not be judged to the end`
        }.`,
      );
      return exitCodes.nothingFound;
    }
    context.out(
      `${counted(counters.rounds, 'round')} and ${duration(counters.seconds)} later there is a bug of this release. It was replayed ${shown.bug.reproduced.shown} times of ${shown.bug.reproduced.runs}\nand cut down from ${shown.bug.raw?.operations} statements to ${countStatements(shown.bug.case)}:\n`,
    );
    showBug(shown, store, context);
    const { id, title, signature, known } = shown.bug;
    if (json === true) world.out(JSON.stringify({ id, title, signature, known, files: shown.files }));
    return exitCodes.found;
  } finally {
    context.signal.removeEventListener('abort', stop);
    await shelf.close();
  }
}

function showBug({ bug, files }: Shelved, store: string, { out, colors, width }: CliContext): void {
  const style = { heading: colors.bold, result: colors.cyan, error: colors.red };
  out(bug.case.setup.map((sql) => colors.dim(`${sql};`)).join('\n'));
  out(`\n${renderInterleaving(bug.history, { width, style, numbered: true })}\n`);
  out(`${colors.bold(colors.red(bug.title))}`);
  if (bug.known !== undefined) out(oneLine(knownLine(bug.known)));
  out(explainOrdered(bug.finding));
  out(`It breaks what ${contractTitle(bug)} promises: ${bug.sources[0]?.url ?? ''}\n`);
  out(
    ['Reports, ready to be filed:', ...files.map((file) => `  ${file}`), `Again: ${bug.replay}`].join('\n'),
  );
  out('Next:  npx isolde hunt mariadb: --for 2m    npx isolde probe postgres:    npx isolde --help');
  out(
    `See it step by step in a browser:  npx isolde studio${store === usualStore ? '' : ` ${shellWord(store)}`}`,
  );
}
