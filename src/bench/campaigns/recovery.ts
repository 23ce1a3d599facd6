/**
 * `npm run campaign recovery [-- --count N --seed S --target URL …]`: faults as interactions of properties, many times. An engine of
 * ours is killed with SIGKILL in the middle of transactions, or its writes are made to fail; afterwards every table must hold what was
 * committed and nothing else, by the shadow state.
 */
import { printPlan, shippedProperties, testProperties } from '../../properties/index.js';
import { openTarget } from '../../targets/index.js';
import type { CampaignTable } from './table.js';

export interface RecoveryOptions {
  /** Faults of each kind on each target, at least. */
  readonly count: number;
  readonly seed: string;
  readonly targets?: readonly string[] | undefined;
}

/** Settings under which nothing committed may be lost when the process dies. */
const usualTargets = [
  'sqlite:?process=own',
  'turso:?process=own',
  'postgres:?synchronous_commit=on&full_page_writes=on',
  'mariadb:?innodb_flush_log_at_trx_commit=1&innodb_doublewrite=ON',
];
/** How many faults an instance of the property gives: after writes have failed, all sessions connect again. */
const faults = { kill: 1, 'write-error': 2 } as const;
type Fault = keyof typeof faults;

export async function recovery({ count, seed, targets }: RecoveryOptions): Promise<CampaignTable> {
  const rows: string[][] = [];
  const failures: string[] = [];
  for (const url of targets ?? usualTargets) {
    for (const fault of Object.keys(faults) as Fault[]) {
      const given = await giveFaults(url, fault, { count, seed });
      if (given === undefined) continue;
      rows.push(given.row);
      failures.push(...given.failures);
      console.error(given.row.join(' | '));
    }
  }
  const chosen = targets?.map((url) => ` --target '${url}'`).join('') ?? '';
  return {
    name: 'recovery',
    title: 'Killed, or unable to write',
    about:
      'Properties `kill` and `write-error`: rows are committed, a transaction is open, and then the process that holds the database gets SIGKILL and recovers, or its writes fail beyond a certain size of a file. Afterwards each table is compared with the shadow state. A failure is a committed row that is lost, an uncommitted one that is left, or a database that does not come back. `write-error` is given where the process that writes the files can be limited. After a failure no more faults of that kind are given to that target.',
    command: `npm run campaign recovery -- --count ${count} --seed ${seed}${chosen}`,
    heads: ['target', 'version', 'fault', 'given', 'tables compared', 'undecided', 'failures'],
    rows,
    failures,
  };
}

/** Undefined: the fault cannot be given there. */
async function giveFaults(
  url: string,
  fault: Fault,
  { count, seed }: RecoveryOptions,
): Promise<{ row: string[]; failures: string[] } | undefined> {
  const probe = await openTarget(url);
  const { version } = probe.stamp;
  const possible = fault === 'kill' ? probe.kill !== undefined : probe.limitWrites !== undefined;
  await probe.close();
  if (!possible) return undefined;
  const enough = new AbortController();
  const given = (counts: { readonly faults: number }) => Math.floor(counts.faults / faults[fault]);
  const {
    counts,
    failures: found,
    unconfirmed,
  } = await testProperties({
    open: () => openTarget(url),
    properties: shippedProperties.filter(({ name }) => name === fault),
    seed: `${seed}-${fault}`,
    signal: enough.signal,
    now: () => Date.now(),
    onPlan: (progress) => {
      if (given(progress.counts) >= count) enough.abort();
    },
  });
  const row = [
    `\`${url}\``,
    version,
    fault,
    ...[given(counts), counts.asserted, counts.undecided].map(String),
  ];
  const texts = found.map(
    ({ failure, plan }) =>
      `${url}, ${fault}: ${failure.message}\n\n  \`\`\`\n${indented(printPlan(plan))}\n  \`\`\``,
  );
  const open = Array.from(
    { length: unconfirmed },
    () => `${url}, ${fault}: a failure that did not come back`,
  );
  return { row: [...row, String(found.length + unconfirmed)], failures: [...texts, ...open] };
}

const indented = (text: string): string => text.trimEnd().replaceAll(/^/gm, '  ');
