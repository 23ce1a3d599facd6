/** JUnit XML, which every CI reads: a bug that is alive is a failure, one that changed an error, one not run is skipped. */
import type { Bug } from '../report/index.js';
import type { RerunResult } from './rerun.js';

export interface RerunReport {
  readonly bug: Pick<Bug, 'id' | 'title' | 'signature' | 'replay' | 'behaviour'>;
  readonly result: Pick<RerunResult, 'outcome' | 'why' | 'shown' | 'runs'>;
  readonly seconds: number;
}

export function printJunit(suite: string, reports: readonly RerunReport[]): string {
  const number = (outcome: string) => reports.filter(({ result }) => result.outcome === outcome).length;
  const seconds = reports.reduce((sum, report) => sum + report.seconds, 0);
  const counts = `tests="${reports.length}" failures="${number('alive')}" errors="${number('changed')}" skipped="${number('not-run')}" time="${seconds.toFixed(3)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `<testsuite name="${escapeXml(suite)}" ${counts}>`,
    ...reports.map(printCase),
    '</testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function printCase({ bug, result, seconds }: RerunReport): string {
  const { outcome, why, shown, runs } = result;
  const head = `<testcase classname="isolde.bugs" name="${escapeXml(`${bug.id}: ${bug.title}`)}" time="${seconds.toFixed(3)}"`;
  if (outcome === 'fixed') return `${head}/>`;
  const message = escapeXml(
    outcome === 'alive' ? `alive in ${shown} of ${runs} runs: ${why}` : `${outcome}: ${why}`,
  );
  if (outcome === 'not-run') return `${head}><skipped message="${message}"/></testcase>`;
  const element = outcome === 'alive' ? 'failure' : 'error';
  const body = escapeXml(`${bug.behaviour}\nreplay: ${bug.replay}`);
  return `${head}><${element} type="${outcome}" message="${message}">${body}</${element}></testcase>`;
}

/** XML cannot hold most control characters, not even escaped. */
function escapeXml(text: string): string {
  return text
    .replaceAll(/[^\t\n\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\u{fffd}')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;');
}
