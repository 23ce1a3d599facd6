/** `isolde fleet work`: this machine's engines at the service of the fleet. */
import { hostname } from 'node:os';
import { IsoldeError } from '../errors.js';
import { enginesHere, JobRunner, ProcessSlot, work } from '../fleet/index.js';
import { hideSecrets } from '../secrets.js';
import { SharedDatabase } from '../store/index.js';
import { counted } from '../words.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import { positive, timeOf } from './flags.js';
import { type DbFlags, fleetUrl, withQueue } from './fleet-database.js';
import { identifyBy, knownFolder, openAllKnown } from './known-command.js';

export interface WorkFlags extends DbFlags {
  readonly slots: string;
  readonly engines?: string;
  readonly allowTarget?: readonly string[];
  readonly lease: string;
  readonly untilIdle?: boolean;
  readonly name?: string;
}

export async function workHere(flags: WorkFlags, context: CliContext): Promise<ExitCode> {
  const slots = positive(flags.slots, '--slots');
  const leaseSeconds = timeOf(flags.lease, '--lease') / 1000;
  const allowed = flags.allowTarget ?? [];
  for (const url of allowed)
    if (!/^[a-z][a-z0-9+]*:/i.test(url))
      throw new IsoldeError('usage', `--allow-target takes a URL, not "${hideSecrets(url)}"`);
  const engines = await enginesHere(flags.engines?.split(',').filter(Boolean), (engine, why) =>
    context.err(`without ${engine}: ${why}`),
  );
  const names = Object.entries(engines).map(([name, version]) => `${name} ${version}`);
  context.err(
    `${counted(slots, 'slot')} for ${[...names, ...allowed.map(hideSecrets)].join(', ') || 'checks alone'}`,
  );
  const tally = await withQueue(flags, context, async (queue) => {
    await queue.prepare();
    return work({
      queue,
      name: flags.name ?? `${hostname()}-${process.pid}`,
      policy: { engines, allowed },
      slots: await makeSlots(slots, await fleetUrl(flags, context), context),
      signal: context.signal,
      leaseSeconds,
      ...(flags.untilIdle === true && { untilIdle: true }),
      log: context.err,
    });
  });
  context.err(`${counted(tally.done, 'job')} done, ${tally.failed} failed, ${tally.lost} given back or lost`);
  return exitCodes.nothingFound;
}

/** Processes of this program; inside another one (a test) there is no program to start, and jobs run where the worker does. */
async function makeSlots(count: number, url: string, context: CliContext) {
  const program = process.argv[1];
  if (program !== undefined && /(?:isolde|main)(?:\.js)?$/.test(program)) {
    const args = ['fleet', 'slot'];
    return Array.from(
      { length: count },
      () => new ProcessSlot({ program, args, env: { ISOLDE_FLEET_DB: url } }),
    );
  }
  const identify = identifyBy(await openAllKnown(knownFolder, context), false);
  return Array.from(
    { length: count },
    () => new JobRunner({ identify, database: () => SharedDatabase.open(url) }),
  );
}
