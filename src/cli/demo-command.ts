/** `isolde demo`: the first thing a newcomer runs. A probe of the embedded default, with a few sentences around it. */
import type { Command } from 'commander';
import { renderExplain, renderMatrix, runProbe } from '../probe/index.js';
import { openTarget } from '../targets/index.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';

export function demoCommand(program: Command, context: CliContext, exit: (code: ExitCode) => void): void {
  program
    .command('demo')
    .description('probe the embedded database and explain what the result means')
    .action(async () => {
      await demo(context);
      exit(exitCodes.nothingFound);
    });
}

async function demo(context: CliContext): Promise<void> {
  const target = await openTarget(undefined);
  try {
    context.out(
      `Isolde opens real connections to DuckDB ${target.stamp.version}, lets transactions interleave in the ways`,
    );
    context.out('that Berenson, Adya and Hermitage describe, and looks at what each one saw.\n');
    const report = await runProbe(target, { signal: context.signal });
    const { colors, width } = context;
    context.out(renderMatrix(report, { colors }));
    const violated = report.levels.flatMap((level) => level.results).find((result) => result.violation);
    if (violated !== undefined) {
      const levels = report.levels.map((level) => ({
        ...level,
        results: level.results.filter((result) => result.case === violated.case),
      }));
      context.out('\nThat is a bug of this release. The interleaving that shows it, as it just ran:\n');
      context.out(renderExplain({ ...report, levels }, { colors, width }));
    }
    context.out(
      '\nNext: isolde probe postgres:   isolde probe mariadb:   isolde probe --explain write-skew   isolde --help',
    );
  } finally {
    await target.close();
  }
}
