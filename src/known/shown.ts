/** What running all shipped cases showed on an engine, as it is kept in `known/shown/` and printed in the documentation. */
import type { KnownBug } from './repository.js';
import type { KnownRun } from './run-known.js';

export interface Shown {
  readonly engine: string;
  /** As far as its releases differ: `10.11`, `1.5`. */
  readonly version: string;
  /** Behaviour signatures of what the oracle found, by the id of the known bug. */
  readonly shows: Readonly<Record<string, readonly string[]>>;
  readonly doesNotShow: readonly string[];
  /** The engine does not run it: another dialect, no such level or statement. */
  readonly notRun: readonly string[];
}

/** `10.11.19-MariaDB-0+deb12u1` as `10.11`. */
export function release(version: string): string {
  return /\d+(\.\d+)?/.exec(version)?.[0] ?? version;
}

export function shownOf(
  target: { readonly name: string; readonly version: string },
  runs: readonly { readonly id: string; readonly run: KnownRun }[],
): Shown {
  const ids = (...outcomes: KnownRun['outcome'][]) =>
    runs.filter(({ run }) => outcomes.includes(run.outcome)).map(({ id }) => id);
  return {
    engine: target.name,
    version: release(target.version),
    shows: Object.fromEntries(
      runs
        .filter(({ run }) => run.outcome === 'shows')
        .map(({ id, run }) => [id, [...new Set(run.findings.map(({ signature }) => signature))].sort()]),
    ),
    doesNotShow: ids('does-not-show'),
    notRun: ids('not-run', 'ran'),
  };
}

/** One row a case, one column an engine. */
export function shownMarkdown(bugs: readonly KnownBug[], all: readonly Shown[]): string {
  const rows = bugs
    .filter((bug) => bug.case !== undefined)
    .map((bug) => {
      const cells = all.map(({ shows, notRun }) =>
        notRun.includes(bug.id) ? '' : shows[bug.id] === undefined ? 'no' : '**yes**',
      );
      const name = bug.url === undefined ? bug.name : `[${bug.name}](${bug.url})`;
      return [`\`${bug.id}\``, name, ...cells];
    });
  const heads = ['id', 'report', ...all.map(({ engine, version }) => `${engine} ${version}`)];
  return `${[heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`;
}
