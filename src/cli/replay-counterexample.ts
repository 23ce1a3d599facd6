/** A kept `counterexample.json` on a database: for `isolde property --replay` and `isolde bugs rerun`. */
import { readFile } from 'node:fs/promises';
import { errorText, IsoldeError } from '../errors.js';
import { parseCounterexample, replayCounterexample } from '../properties/index.js';
import { admit, defaultTargetUrl, openTarget } from '../targets/index.js';
import { oneLine } from '../visible.js';
import { counted } from '../words.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';

export interface ReplayFlags {
  readonly target?: string;
  readonly runs: number;
  readonly trustCase?: boolean;
  readonly json?: boolean;
}

/** Runs a kept counterexample: 1 it shows, 0 it does not, 2 something else fails. */
export async function replayFile(name: string, flags: ReplayFlags, context: CliContext): Promise<ExitCode> {
  const text = await readFile(name, 'utf8').catch((cause: unknown) => {
    throw new IsoldeError('file-system', `cannot read ${name}: ${errorText(cause)}`, { cause });
  });
  const file = parseCounterexample(text, name);
  const url = flags.target ?? context.defaultTarget ?? defaultTargetUrl;
  const statements = file.plan.interactions.flatMap((each) => (each.type === 'statement' ? [each.sql] : []));
  const open = async () => {
    const target = await openTarget(url);
    try {
      await admit(target, { setup: [], statements }, { trust: flags.trustCase === true, source: name });
    } catch (error) {
      await target.close();
      throw error;
    }
    return target;
  };
  const {
    shown: times,
    others,
    runs,
    last,
  } = await replayCounterexample(file, open, {
    runs: flags.runs,
    signal: context.signal,
  });
  if (flags.json === true)
    context.out(JSON.stringify({ shown: times, others, runs, failure: last.failure }, null, 2));
  else {
    context.out(`${oneLine(file.message)}\n  shown in ${times} of ${counted(runs, 'run')}`);
    if (others > 0)
      context.out(`  another failure in ${counted(others, 'run')}: ${oneLine(last.failure?.message ?? '')}`);
  }
  if (times > 0) return exitCodes.found;
  return others > 0 ? exitCodes.undecided : exitCodes.nothingFound;
}
