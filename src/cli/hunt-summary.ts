/** What a hunt found, for CI: JUnit XML, where each bug that counts is a failure, and a summary in Markdown. */
import { describeClaim } from '../contracts/index.js';
import { burstLine, type HuntResult, type Shelved, type ShelvedBurst } from '../hunt/index.js';
import { codeBlock, codeSpan, escapeMarkdown } from '../markup.js';
import { type JunitCase, printJunitSuite } from '../store/index.js';
import { counted } from '../words.js';

/** `counts`: whether a bug is what the hunt was to fail on. */
export interface Summarised {
  readonly result: HuntResult;
  /** The database, without secrets. */
  readonly target: string;
  readonly counts: (shelved: Shelved) => boolean;
  readonly countsBurst: (shelved: ShelvedBurst) => boolean;
}

export function printHuntJunit({ result, target, counts, countsBurst }: Summarised): string {
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
  const bursts = result.bursts.map((shelved): JunitCase => {
    const { id, finding } = shelved;
    const base = { classname: 'isolde.hunt', name: `${id}: ${finding.fact}`, seconds: 0 };
    if (!countsBurst(shelved))
      return { ...base, skipped: 'not what --fail-on asks for, or in the store before' };
    const message = `broken: ${finding.fact}`;
    return {
      ...base,
      problem: { element: 'failure', type: 'broken-fact', message, body: burstLine(finding) },
    };
  });
  return printJunitSuite('isolde hunt', [rounds, ...cases, ...bursts]);
}

export function printHuntSummary({ result, target, counts, countsBurst }: Summarised): string {
  const { bugs, counters } = result;
  const undecided = counters.undecided > 0 ? ` (${counters.undecided} undecided)` : '';
  const failing = bugs.filter(counts);
  const broken = result.bursts.filter(countsBurst);
  const lines = [
    `## Isolde on ${codeSpan(target)}`,
    '',
    `${counted(counters.rounds, 'round')}${undecided}, ${counted(counters.transactions, 'transaction')}: ${
      failing.length + broken.length === 0
        ? 'nothing new'
        : counted(failing.length + broken.length, 'new bug')
    }.`,
    '',
  ];
  for (const { bug } of failing)
    lines.push(`### ${escapeMarkdown(bug.title)}`, '', codeBlock(bug.replay, 'sh'), '');
  for (const { finding } of broken)
    lines.push(
      `### ${escapeMarkdown(`Broken in bursts: ${finding.fact}`)}`,
      '',
      codeBlock(burstLine(finding), 'sh'),
      '',
    );
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
