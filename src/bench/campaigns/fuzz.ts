/**
 * `npm run campaign fuzz [-- --count N --seed S --only SUBJECT --at I]`: changed files into every reader, changed
 * statements into the SQL parser and printer, changed files into a store. An input may be read or refused by an
 * `IsoldeError`; any other error, and anything that takes long, is a failure. The seed and the number of an input make it
 * again, which the line of a failure does.
 */
import { IsoldeError } from '../../errors.js';
import { Random } from '../../generate/index.js';
import type { FuzzSubject } from './fuzz-subject.js';
import { fuzzSubjects } from './fuzz-subjects.js';
import { mutate } from './mutate.js';
import type { CampaignTable } from './table.js';

export interface FuzzOptions {
  /** Inputs over all subjects. */
  readonly count: number;
  readonly seed: string;
  readonly only?: string | undefined;
  /** Only the input of this number. */
  readonly at?: number | undefined;
}

interface Tally {
  tried: number;
  accepted: number;
  refused: number;
  failed: number;
  slowestMs: number;
}

/** Processor time one input may take. */
const slowMs = 3_000;

export async function fuzz(options: FuzzOptions): Promise<CampaignTable> {
  const { subjects, close } = await fuzzSubjects();
  const chosen = subjects.filter(({ name }) => options.only === undefined || name === options.only);
  const failures: string[] = [];
  const rows: string[][] = [];
  try {
    const each = Math.ceil(options.count / chosen.length);
    for (const subject of chosen) {
      const tally = await fuzzSubject(subject, each, options, failures);
      const { tried, accepted, refused, failed, slowestMs } = tally;
      rows.push([subject.name, ...[tried, accepted, refused, failed, Math.round(slowestMs)].map(String)]);
      console.error(`${subject.name}: ${tried} inputs, ${failed} failures`);
    }
  } finally {
    await close();
  }
  const sum = (column: number) => String(rows.reduce((total, row) => total + Number(row[column]), 0));
  rows.push(['all', sum(1), sum(2), sum(3), sum(4), String(Math.max(...rows.map((row) => Number(row[5]))))]);
  return {
    name: 'fuzz',
    title: 'Fuzzing',
    about: `Valid inputs are changed at random and read again. Each must be accepted or refused with a message; another error, or more than ${slowMs} ms of processor time, is a failure.`,
    command: `npm run campaign fuzz -- --count ${options.count} --seed ${options.seed}`,
    heads: ['what reads it', 'inputs', 'accepted', 'refused', 'failures', 'slowest, ms'],
    rows,
    failures,
  };
}

async function fuzzSubject(
  subject: FuzzSubject,
  count: number,
  options: FuzzOptions,
  failures: string[],
): Promise<Tally> {
  const tally: Tally = { tried: 0, accepted: 0, refused: 0, failed: 0, slowestMs: 0 };
  const [from, to] = options.at === undefined ? [0, count] : [options.at, options.at + 1];
  for (let i = from; i < to; i++) {
    const random = new Random(`${options.seed} ${subject.name} ${i}`);
    const input = mutate(random.pick(subject.samples), random, random.pick(subject.samples));
    const replay = `\`npm run campaign fuzz -- --seed ${options.seed} --only ${subject.name} --at ${i}\``;
    const before = process.cpuUsage();
    tally.tried++;
    try {
      await subject.read(input, random);
      tally.accepted++;
    } catch (error) {
      if (error instanceof IsoldeError) tally.refused++;
      else {
        tally.failed++;
        failures.push(`${subject.name}: ${firstLine(error)}; ${replay}`);
        if (options.at !== undefined) console.error(input.toString(), error);
      }
    }
    const { user, system } = process.cpuUsage(before);
    const ms = (user + system) / 1000;
    tally.slowestMs = Math.max(tally.slowestMs, ms);
    if (ms > slowMs) {
      tally.failed++;
      failures.push(`${subject.name}: took ${Math.round(ms)} ms; ${replay}`);
    }
  }
  return tally;
}

function firstLine(error: unknown): string {
  return String(error).split('\n')[0]!.slice(0, 200).replaceAll('|', '\\|');
}
