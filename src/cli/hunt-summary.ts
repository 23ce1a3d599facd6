/** What a hunt found, for CI: JUnit XML, where each bug that counts is a failure, and a summary in Markdown. */
import { describeClaim } from '../contracts/index.js';
import type { HuntResult, Shelved } from '../hunt/index.js';
import { codeBlock, codeSpan, escapeMarkdown } from '../markup.js';
import { type JunitCase, printJunitSuite } from '../store/index.js';
import { counted } from '../words.js';

/** `counts`: whether a bug is what the hunt was to fail on. */
export interface Summarised {
  readonly result: HuntResult;
  /** The database, without secrets. */
  readonly target: string;
  readonly counts: (shelved: Shelved) => boolean;
}

export function printHuntJunit({ result, target, counts }: Summarised): string {
  const { bugs, counters } = result;
  const rounds = {
    classname: 'isolde.hunt',
    name: `${counted(counters.rounds, 'round')} on ${target}`,
    seconds: counters.seconds,
  };
  const cases = bugs.map((shelved): JunitCase => {
    const { bug } = shelved;
    const base = { classname: 'isolde.hunt', name: `${bug.id}: ${bug.title}`, seconds: 0 };
    if (!counts(shelved)) return { ...base, skipped: whyNot(shelved) };
    const message = `${describeClaim(bug)}: ${bug.title}`;
    const body = `${bug.behaviour}\nreplay: ${bug.replay}`;
    return { ...base, problem: { element: 'failure', type: bug.finding.kind, message, body } };
  });
  return printJunitSuite('isolde hunt', [rounds, ...cases]);
}

export function printHuntSummary({ result, target, counts }: Summarised): string {
  const { bugs, counters } = result;
  const failing = bugs.filter(counts);
  const lines = [
    `## Isolde on ${codeSpan(target)}`,
    '',
    `${counted(counters.rounds, 'round')}, ${counted(counters.transactions, 'transaction')}: ${
      failing.length === 0 ? 'nothing new' : counted(failing.length, 'new bug')
    }.`,
    '',
  ];
  for (const { bug } of failing)
    lines.push(`### ${escapeMarkdown(bug.title)}`, '', codeBlock(bug.replay, 'sh'), '');
  const others = bugs.filter((shelved) => !counts(shelved));
  for (const shelved of others)
    lines.push(`- ${escapeMarkdown(shelved.bug.title)} (${escapeMarkdown(whyNot(shelved))})`);
  return `${lines.join('\n').trimEnd()}\n`;
}

function whyNot({ bug, isNew }: Shelved): string {
  if (bug.known?.verdict === 'duplicate')
    return `known as ${bug.known.reports.map(({ name }) => name).join(', ')}`;
  return isNew ? 'not what --fail-on asks for' : 'in the store before';
}
