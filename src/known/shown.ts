/** What running all shipped cases showed on an engine, as it is kept in `known/shown/` and printed in the documentation. */
import type { TargetStamp } from '../histories/index.js';
import type { KnownBug } from './repository.js';
import type { KnownRun } from './run-known.js';

export interface Shown {
  readonly engine: string;
  /** As far as its releases differ: `10.11`, `1.5`. */
  readonly version: string;
  /** What it was run with, where that is not the engine’s own default: `mvcc`. */
  readonly setting?: string;
  /** Behaviour signatures of what the oracle found, by the id of the known bug. */
  readonly shows: Readonly<Record<string, readonly string[]>>;
  readonly doesNotShow: readonly string[];
  /** The engine does not run it: another dialect, no such level or statement. */
  readonly notRun: readonly string[];
  /** Cases that are newer than the record, where the engine could run them and was not there: the next run decides. */
  readonly notTried?: readonly string[];
}

/** `10.11.19-MariaDB-0+deb12u1` as `10.11`; TiDB names the MySQL that it is like before its own version. */
function release(version: string): string {
  return /(?<=TiDB-v)\d+\.\d+|\d+(\.\d+)?/.exec(version.replace(/^.*(?=TiDB-v)/, ''))?.[0] ?? version;
}

/** The settings that engines are tried with, and what a record calls them where they are not the default. */
const named: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  journal_mode: { mvcc: 'mvcc' },
  'hsqldb.tx': { mvcc: 'mvcc' },
  innodb_snapshot_isolation: { ON: 'snapshot-isolation' },
  default_storage_engine: { ROCKSDB: 'rocksdb' },
};

export function shownOf(
  { name, version, settings = {} }: TargetStamp,
  runs: readonly { readonly id: string; readonly run: KnownRun }[],
): Shown {
  const ids = (...outcomes: KnownRun['outcome'][]) =>
    runs.filter(({ run }) => outcomes.includes(run.outcome)).map(({ id }) => id);
  const setting = Object.entries(settings)
    .flatMap(([key, value]) => named[key]?.[value] ?? [])
    .join(' ');
  return {
    ...{ engine: name, version: release(version), ...(setting !== '' && { setting }) },
    shows: Object.fromEntries(
      runs
        .filter(({ run }) => run.outcome === 'shows')
        .map(({ id, run }) => [id, [...new Set(run.findings.map(({ signature }) => signature))].sort()]),
    ),
    doesNotShow: ids('does-not-show'),
    notRun: ids('not-run', 'ran'),
  };
}

/** The name of a record: `mariadb-10.11-rocksdb`. */
export function recordName({
  engine,
  version,
  setting,
}: Pick<Shown, 'engine' | 'version' | 'setting'>): string {
  return [engine, version, ...(setting === undefined ? [] : [setting])].join('-').replaceAll(' ', '-');
}

/** One row a case: where it shows, where it does not, and where it shows without the oracle finding anything wrong (`*`). */
export function shownMarkdown(bugs: readonly KnownBug[], all: readonly Shown[]): string {
  const title = ({ engine, version, setting }: Shown) =>
    `${engine} ${version}${setting === undefined ? '' : ` (${setting})`}`;
  const rows = bugs
    .filter((bug) => bug.case !== undefined)
    .map((bug) => {
      const shows = all
        .filter((each) => each.shows[bug.id] !== undefined)
        .map((each) => `${title(each)}${each.shows[bug.id]!.length === 0 ? '\\*' : ''}`);
      const not = all.filter(({ doesNotShow }) => doesNotShow.includes(bug.id)).map(title);
      const name = bug.url === undefined ? bug.name : `[${bug.name}](${bug.url})`;
      return [`\`${bug.id}\``, name, bug.case?.source ?? '', shows.join(', '), not.join(', ')];
    });
  const heads = ['id', 'report', 'case from', 'shows on', 'does not show on'];
  return `${[heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`;
}
