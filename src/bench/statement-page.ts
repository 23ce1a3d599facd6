/** The page of `npm run bench statement`: what was counted, row by row, so that a later run can go on. */
import { readFile } from 'node:fs/promises';

/** What is known of one target, level and seed. */
export interface Tally {
  readonly version: string;
  cases: number;
  /** Every statement of a committed transaction was compared. */
  whole: number;
  /** Some were. */
  partly: number;
  reads: number;
  writes: number;
  alarms: number;
  /** Alarms by known bugs of the engine. */
  explained: number;
  /** Of all processors, the server's included. */
  cpuSeconds: number;
}

/** How fast one target and level is judged. */
export interface Rate {
  readonly version: string;
  readonly cases: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Processor seconds that other programs used meanwhile. */
  readonly others: number;
}

export interface Known {
  readonly tallies: Map<string, Tally>;
  readonly rates: Map<string, Rate>;
}

/** The cells that name a row. */
export const rowKey = (
  { url, level }: { readonly url: string; readonly level: string },
  seed?: string,
): string => [`\`${url}\``, level, ...(seed === undefined ? [] : [seed])].join(' | ');

const counts = ['cases', 'whole', 'partly', 'reads', 'writes', 'alarms', 'explained', 'cpuSeconds'] as const;
const silenceHeads = [
  ...['target', 'level', 'seed', 'version', 'cases', 'judged whole', 'in part', 'reads compared'],
  ...['writes compared', 'alarms', 'of them by known bugs', 'processor seconds'],
];
const measures = ['cases', 'seconds', 'cpuSeconds', 'others'] as const;
const rateHeads = [
  ...['target', 'level', 'version', 'cases', 'seconds', 'processor seconds', 'processor seconds of others'],
  ...['cases a minute', 'a minute of processor time'],
];

export interface Goals {
  readonly wantedCases: number;
  readonly wantedPerMinute: number;
  readonly txcheckPerMinute: number;
  readonly rateSeconds: number;
}

export function pageOf({ tallies, rates }: Known, goals: Goals): string {
  const { wantedCases, wantedPerMinute, txcheckPerMinute, rateSeconds } = goals;
  const silence = [...tallies].map(([key, tally]) => [
    key,
    tally.version,
    ...counts.map((name) => tally[name]),
  ]);
  const speed = [...rates].map(([key, rate]) => {
    const numbers = measures.map((name) => Math.round(rate[name]));
    const perMinute = [rate.seconds, rate.cpuSeconds].map((seconds) =>
      Math.round((60 * rate.cases) / seconds),
    );
    return [key, rate.version, ...numbers, ...perMinute];
  });
  return `# The statement oracle on engines without a fault

Written by \`npm run bench statement\`, in pieces: each goes on behind the last case. A case has six transactions of two statements in three sessions, the
size of TxCheck's; half of them are of the profile \`queries\`. *Judged whole*: every statement of a committed transaction was compared with the same statement without
transactions, and so was the final state. *In part*: some statements were left out, and the others compared. The rest could not be judged, or committed nothing. The goal is
no alarm in ${wantedCases.toLocaleString('en')} cases, but by a bug of the engine that is known: InnoDB shows a row whose key another transaction has moved under both keys (MySQL #113228), recognised by what the transactions did; MariaDB evaluates window functions in the list of NOT IN wrongly (MDEV-29123), and
such an alarm counts as explained if the same case raises it in three runs of three, and in none of three with \`optimizer_switch=in_to_exists=off\`, where as much is compared.

${table(silenceHeads, silence)}

## How fast

Written by \`npm run bench statement -- --rate\`: cases that are done within ${rateSeconds} seconds of the wall clock, four at once, after a warm-up, on two cores. The goal is ${wantedPerMinute} cases a minute,
30 times the ${txcheckPerMinute} that TxCheck does on a machine of this size. What other programs used of the processors meanwhile is missing here.

${table(rateHeads, speed)}
`;
}

function table(heads: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The rows of the page as it is; none of a page that is not there, or is of another form. */
export async function readPage(file: string): Promise<Known> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const [silence = '', speed = ''] = text.split('## How fast');
  const [tallies, rates] = [new Map<string, Tally>(), new Map<string, Rate>()];
  for (const [key, version, numbers] of rowsOf(silence, silenceHeads, 3))
    tallies.set(key, { version, ...byName(counts, numbers) });
  for (const [key, version, numbers] of rowsOf(speed, rateHeads, 2))
    rates.set(key, { version, ...byName(measures, numbers) });
  return { tallies, rates };
}

/** Key, version and numbers of each row. */
function rowsOf(text: string, heads: readonly string[], keys: number): [string, string, number[]][] {
  return [...text.matchAll(/^\| (`.*) \|$/gm)].flatMap(([, line]): [string, string, number[]][] => {
    const cells = line!.split(' | ');
    if (cells.length !== heads.length) return [];
    return [[cells.slice(0, keys).join(' | '), cells[keys]!, cells.slice(keys + 1).map(Number)]];
  });
}

function byName<Name extends string>(
  names: readonly Name[],
  numbers: readonly number[],
): Record<Name, number> {
  return Object.fromEntries(names.map((name, i) => [name, numbers[i]!])) as Record<Name, number>;
}
