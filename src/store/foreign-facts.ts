/**
 * What is taken over of somebody else's bug besides its data, field by field: the runs, the command that found it, and which known bugs it
 * was taken for. All of it is shown and none of it is run; what cannot be trusted to be harmless where it is shown is left out.
 */
import { findContract, levels } from '../contracts/index.js';
import { profiles } from '../generate/index.js';
import type { TargetStamp } from '../histories/index.js';
import type { KnownReference, KnownVerdict } from '../known/index.js';
import { hideSecrets } from '../secrets.js';
import { privateEngine } from '../targets/index.js';
import type { RunLine } from './bug-file.js';

const mostRuns = 10_000;
const mostSettings = 64;
const longestName = 200;
const longestText = 2_000;

/** The runs, the last ones of very many; a line with texts that no engine stamps is left out. */
export function foreignRuns(runs: readonly RunLine[]): RunLine[] {
  return runs
    .filter((run) => isPlainStamp(run.target) && (run.kind === 'rerun' || isShort(run.seed ?? '')))
    .slice(-mostRuns)
    .map((run) => {
      const { url } = run.target;
      return url === undefined ? run : { ...run, target: { ...run.target, url: hideSecrets(url) } };
    });
}

function isPlainStamp({ name, version, url = '', settings = {} }: TargetStamp): boolean {
  const texts = [name, version, url, ...Object.entries(settings).flat()];
  return Object.keys(settings).length <= mostSettings && texts.every(isShort);
}

const isShort = (text: string) => text.length <= longestName;

const words = /^(?:(?:[\w:./=+-]+|'[^'\p{C}]*')(?: |$))+$/u;

/** What each option of a hunt may be followed by. */
const options: Readonly<Record<string, (value: string) => boolean>> = {
  '--level': (value) => levels.some((level) => level === value),
  '--contract': (value) =>
    ['vendor', 'reported', 'adya', 'ansi'].includes(value) || findContract(value) !== undefined,
  '--profile': (value) => profiles.some(({ name }) => name === value),
  '--oracle': (value) => /^[a-z-]{1,40}$/.test(value),
  '--reuse': (value) => /^[0-9a-f]{12}$/.test(value),
  '--seed': (value) => /^[\w.:+][\w.:+ -]{0,199}$/.test(value),
  '--rounds': (value) => /^\d{1,15}\.\.\d{0,15}$/.test(value),
};

/**
 * The line if it is a hunt in a private or embedded engine, as hunts write it (`hunt/replay-line.ts`); undefined: it is anything else, or names
 * a server, a file or a folder, which whoever repeats it would open.
 */
export function foreignReplay(line: string): string | undefined {
  if (line.length > longestText || !words.test(line)) return undefined;
  const [npx, isolde, hunt, ...rest] = (line.match(/'[^']*'|[^ ']+/g) ?? []).map((word) =>
    word.replaceAll("'", ''),
  );
  if (npx !== 'npx' || isolde !== 'isolde' || hunt !== 'hunt') return undefined;
  if (rest[0]?.startsWith('--') === false && !isPrivate(rest.shift()!)) return undefined;
  for (let i = 0; i < rest.length; i += 2) {
    const name = rest[i]!;
    if (!Object.hasOwn(options, name) || !options[name]!(rest[i + 1] ?? '')) return undefined;
  }
  return rest.includes('--seed') && rest.includes('--rounds') ? line : undefined;
}

function isPrivate(url: string): boolean {
  try {
    return privateEngine(url) !== undefined;
  } catch {
    return false;
  }
}

/** The answer with the reports that are known here, by the names and addresses they have here; undefined: nothing of it can be kept. */
export function foreignKnown(
  { verdict, reports, why }: KnownVerdict,
  listed: readonly Pick<KnownReference, 'id' | 'name' | 'url'>[],
): KnownVerdict | undefined {
  if (why.length > longestText) return undefined;
  const kept = reports.flatMap((report): KnownReference[] => {
    const here = listed.find(({ id }) => id === report.id);
    if (here === undefined || report.why.length > longestText) return [];
    const { id, name, url } = here;
    return [{ id, name, ...(url !== undefined && { url }), why: report.why }];
  });
  return kept.length === 0 && reports.length > 0 ? undefined : { verdict, reports: kept, why };
}
