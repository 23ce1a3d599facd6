/** JUnit XML, which every CI reads: a bug that is alive is a failure, one that changed an error, one not run is skipped. */
import type { Bug } from '../report/index.js';
import type { RerunResult } from './rerun.js';

export interface RerunReport {
  readonly bug: Pick<Bug, 'id' | 'title' | 'signature' | 'replay' | 'behaviour'>;
  readonly result: Pick<RerunResult, 'outcome' | 'why' | 'shown' | 'runs'>;
  readonly seconds: number;
}

/** One test of a suite, in JUnit's words. */
export interface JunitCase {
  readonly classname: string;
  readonly name: string;
  readonly seconds: number;
  readonly skipped?: string;
  readonly problem?: {
    readonly element: 'failure' | 'error';
    readonly type: string;
    readonly message: string;
    readonly body: string;
  };
}

export function printJunit(suite: string, reports: readonly RerunReport[]): string {
  return printJunitSuite(
    suite,
    reports.map(({ bug, result, seconds }): JunitCase => {
      const { outcome, why, shown, runs } = result;
      const base = { classname: 'isolde.bugs', name: `${bug.id}: ${bug.title}`, seconds };
      if (outcome === 'fixed') return base;
      if (outcome === 'not-run') return { ...base, skipped: `${outcome}: ${why}` };
      const message =
        outcome === 'alive' ? `alive in ${shown} of ${runs} runs: ${why}` : `${outcome}: ${why}`;
      const body = `${bug.behaviour}\nreplay: ${bug.replay}`;
      return {
        ...base,
        problem: { element: outcome === 'alive' ? 'failure' : 'error', type: outcome, message, body },
      };
    }),
  );
}

/** A suite of any tests. */
export function printJunitSuite(suite: string, cases: readonly JunitCase[]): string {
  const number = (element: string) => cases.filter(({ problem }) => problem?.element === element).length;
  const skipped = cases.filter((each) => each.skipped !== undefined).length;
  const seconds = cases.reduce((sum, each) => sum + each.seconds, 0);
  const counts = `tests="${cases.length}" failures="${number('failure')}" errors="${number('error')}" skipped="${skipped}" time="${seconds.toFixed(3)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `<testsuite name="${escapeXml(suite)}" ${counts}>`,
    ...cases.map(printCase),
    '</testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function printCase({ classname, name, seconds, skipped, problem }: JunitCase): string {
  const head = `<testcase classname="${escapeXml(classname)}" name="${escapeXml(name)}" time="${seconds.toFixed(3)}"`;
  if (skipped !== undefined) return `${head}><skipped message="${escapeXml(skipped)}"/></testcase>`;
  if (problem === undefined) return `${head}/>`;
  const { element, type, message, body } = problem;
  return `${head}><${element} type="${escapeXml(type)}" message="${escapeXml(message)}">${escapeXml(body)}</${element}></testcase>`;
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
