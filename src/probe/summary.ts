/** What the renderings of a report share: its rows, its title, the line that shows one case again. */
import type { Level } from '../contracts/index.js';
import { shortLevel } from '../contracts/index.js';
import type { TargetStamp } from '../histories/index.js';
import { oneLine, shellWord } from '../visible.js';
import { probeCases } from './cases/index.js';
import type { ProbeReport, ProbeResult } from './run-probe.js';

export interface CaseRow {
  readonly id: string;
  readonly title: string;
  /** One per level of the report; undefined where the run was stopped before. */
  readonly results: readonly (ProbeResult | undefined)[];
}

/** The report by case, in the order of the cases. */
export function caseRows(report: ProbeReport): CaseRow[] {
  const ids = new Set(report.levels.flatMap(({ results }) => results.map((result) => result.case)));
  return [...ids].map((id) => ({
    id,
    title: probeCases.find((probe) => probe.id === id)?.title ?? '',
    results: report.levels.map(({ results }) => results.find((result) => result.case === id)),
  }));
}

/** `mariadb 10.11.6`. */
export function showTarget({ name, version }: TargetStamp): string {
  return oneLine(`${name} ${version}`);
}

/** The settings that matter to isolation, as one line, or none. */
export function showSettings({ settings = {} }: TargetStamp): string[] {
  const shown = Object.entries(settings).map(([key, value]) => oneLine(`${key} = ${value}`));
  return shown.length === 0 ? [] : [shown.join(', ')];
}

/** The command that runs one case again and shows it. */
export function replayLine(target: TargetStamp, level: Level, id: string): string {
  const url = target.url === undefined ? [] : [target.url];
  return ['isolde', 'probe', ...url, '--level', shortLevel(level), '--explain', id].map(shellWord).join(' ');
}
