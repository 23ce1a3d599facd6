/** Broken bursts, as `isolde bugs` knows them: rerun by rate, on a database that the user names. */
import { findContract, shortLevel } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import {
  type BurstFile,
  type BurstRate,
  burstPrograms,
  burstsOf,
  listBursts,
  rateBurst,
  sizeText,
} from '../hunt/index.js';
import type { Kept } from '../kept-folders.js';
import { openTarget } from '../targets/index.js';
import { oneLine } from '../visible.js';
import type { Beside, BesideShelf, RerunBeside } from './beside.js';
import { rateText } from './burst-command.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';

export const bursts: BesideShelf = async (store) => {
  const { kept, problems } = await listBursts(store);
  return { problems, kept: kept.map(asBeside) };
};

function asBeside(kept: Kept<BurstFile>): Beside {
  const { id, folder, file } = kept;
  const { target, level, program, form, reduced, verdict, count, lastSeen, fact } = file;
  const { broken, runs } = reduced.rate;
  const apart = verdict === 'not isolation' ? '; not isolation' : '';
  return {
    id,
    folder,
    title: oneLine(`${target.name} ${target.version}, ${shortLevel(level)}: broken: ${fact}`),
    what: `burst of ${program} (${form})${apart}; seen ${count}×, last ${oneLine(lastSeen)}, ${broken} of ${runs} runs with ${sizeText(reduced)}`,
    data: { ...file, folder },
    rerun: (flags, context) => rerunBurst(kept, flags, context),
  };
}

/** 1: some of the runs break it; 0: none; 2: nothing could be said. */
async function rerunBurst(
  { id, file }: Kept<BurstFile>,
  flags: RerunBeside,
  context: CliContext,
): Promise<ExitCode> {
  if (flags.target === undefined)
    throw new IsoldeError('usage', `${id} is a burst: name the database it is run on (--target)`);
  const target = await openTarget(flags.target);
  try {
    const { level, reduced: size, form, contract: promise } = file;
    const program = burstPrograms.find(({ name }) => name === file.program)!;
    const [offered] = burstsOf([program], target, size, [form]);
    const burst = offered && { ...offered, without: size.without };
    const isOffered = target.levels.some((offered) => offered.level === level);
    const contract = findContract(promise);
    if (burst === undefined || !isOffered || contract === undefined)
      throw new IsoldeError(
        'usage',
        `${target.name} has no ${isOffered ? `transactions as a ${form}` : `level ${level}`}`,
      );
    const { signal } = context;
    const rate = await rateBurst(target, burst, { level, contract, signal, size, runs: flags.runs });
    if (flags.json === true) context.out(JSON.stringify({ id, ...rate }, null, 2));
    else context.out(`${rate.broken > 0 ? 'alive' : 'not seen'}: ${id}\n  ${rateText(rate)}`);
    return codeOf(rate);
  } finally {
    await target.close();
  }
}

function codeOf({ broken, runs, unknown }: BurstRate): ExitCode {
  if (broken > 0) return exitCodes.found;
  return runs > unknown ? exitCodes.nothingFound : exitCodes.undecided;
}
