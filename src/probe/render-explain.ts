/** One anomaly in full: what was sent, what came back, what follows from it, and what the contract says. */
import pc from 'picocolors';
import { describeAnomaly, findContract, shortLevel } from '../contracts/index.js';
import { renderInterleaving } from '../histories/index.js';
import { oneLine } from '../visible.js';
import { probeCases } from './cases/index.js';
import type { Colors } from './render-matrix.js';
import { cellText } from './render-matrix.js';
import type { ProbeLevel, ProbeReport, ProbeResult } from './run-probe.js';
import { caseRows, showSettings, showTarget } from './summary.js';

export interface ExplainOptions {
  readonly colors?: Colors;
  /** Characters per line; default 120. */
  readonly width?: number;
}

/** Explains every result of a report; callers run the probe with only the cases they want explained. */
export function renderExplain(report: ProbeReport, options: ExplainOptions = {}): string {
  const colors = options.colors ?? pc.createColors(false);
  const lines = [
    colors.bold(showTarget(report.target)),
    ...showSettings(report.target).map((text) => colors.dim(text)),
  ];
  for (const { id } of caseRows(report)) {
    const probe = probeCases.find((candidate) => candidate.id === id);
    const anomaly = report.levels
      .flatMap(({ results }) => results)
      .find((result) => result.case === id)!.anomaly;
    lines.push('', colors.bold(`${id}: ${probe?.title ?? describeAnomaly(anomaly).title}`));
    lines.push(describeAnomaly(anomaly).meaning);
    if (probe !== undefined) {
      lines.push(probe.argument, colors.dim(`(${probe.origin})`));
      lines.push('', ...probe.case.setup.map((sql) => colors.dim(sql)));
    }
    for (const level of report.levels) {
      const result = level.results.find((candidate) => candidate.case === id);
      if (result !== undefined) lines.push(...explainResult(level, result, colors, options.width ?? 120));
    }
  }
  return lines.join('\n');
}

function explainResult(level: ProbeLevel, result: ProbeResult, colors: Colors, width: number): string[] {
  const style = { heading: colors.bold, result: colors.cyan, error: colors.red };
  return [
    '',
    colors.bold(`at ${level.level} (${shortLevel(level.level)})`),
    '',
    renderInterleaving(result.history, { width, style }),
    '',
    `${paintVerdict(result, colors)}: ${oneLine(result.reason)}`,
    promise(level, result),
  ];
}

function paintVerdict(result: ProbeResult, colors: Colors): string {
  const text = cellText(result);
  if (result.violation) return colors.bold(colors.red(text));
  if (result.verdict === 'allowed') return colors.yellow(text);
  return result.verdict === 'unknown' ? colors.magenta(text) : colors.green(text);
}

/** What the contract says of the anomaly, with its source. */
function promise(level: ProbeLevel, result: ProbeResult): string {
  const contract = findContract(level.contract);
  if (contract === undefined) return `Isolde knows no contract ${level.contract}.`;
  const source = contract.sources.find(({ clause }) => clause === 'forbids');
  const cited = source === undefined ? '' : `: ${source.title}, ${source.url}`;
  return `The contract ${contract.id} ${result.forbidden ? 'forbids' : 'does not forbid'} it${cited}`;
}
