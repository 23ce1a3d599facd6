/**
 * `npm run bench statement [-- --target URL --level LEVEL --cases N --minutes M --lanes N --seed S --at NUMBER --rate --no-write]`: the statement
 * oracle on engines without a fault. Cases have the size of TxCheck's: six transactions of two statements each, in three sessions. How many are
 * judged, whether one raises an alarm, and with `--rate` how many a minute; the tables are docs/stages/check-statement-figures.md.
 *
 * Cases are numbered. A run goes on behind the last case of the same target, level and seed in the table, so that many cases can be
 * judged in pieces, also while the machine has other work; `--at` runs one case alone, and prints what it says. A rate is
 * measured apart, for half a minute by the clock on the wall after a warm-up: it is only worth something on a machine with nothing else to do,
 * so what others used of the processors meanwhile stands beside it.
 *
 * An alarm on an engine with a known bug is explained if its transactions did what the bug needs (`silence/known-bugs.ts`), or if the same case raises it three times of three, and none of three under a setting that
 * switches the bug off (`explained.ts`).
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { explain, type Finding, type JudgedHistory } from '../check/index.js';
import { type Level, parseLevel } from '../contracts/index.js';
import { SessionPool } from '../execute/index.js';
import { capabilitiesOf, generate } from '../generate/index.js';
import { runAndJudge } from '../judge/index.js';
import { openTarget, type Scratch, type Target } from '../targets/index.js';
import { busySeconds, familyCpuMs } from './campaigns/processes.js';
import { explainAlarm, runOf } from './explained.js';
import type { Figure } from './measure.js';
import { bugBehind } from './silence/known-bugs.js';
import { type Known, pageOf, type Rate, readPage, rowKey, type Tally } from './statement-page.js';

const page = 'docs/stages/check-statement-figures.md';
const txcheckPerMinute = 18;
const wantedPerMinute = 30 * txcheckPerMinute;
const wantedCases = 20_000;
const rateSeconds = 30;
const warmUpCases = 60;
/** After so many cases the page is written: what is stopped goes on from there. */
const casesAPiece = 500;
const goals = { wantedCases, wantedPerMinute, txcheckPerMinute, rateSeconds };

interface Place {
  readonly url: string;
  readonly level: Level;
}

const places: readonly Place[] = [
  { url: 'postgres:', level: 'read committed' },
  { url: 'postgres:', level: 'repeatable read' },
  { url: 'postgres:', level: 'serializable' },
  { url: 'mariadb:', level: 'read committed' },
  { url: 'mariadb:', level: 'repeatable read' },
  { url: 'mariadb:', level: 'serializable' },
  { url: 'sqlite:', level: 'serializable' },
];

/** Bugs of current releases that cases of this bench meet, and a setting without each. */
const knownBugs: Readonly<Record<string, { readonly name: string; readonly without: string }>> = {
  // NOT IN over a list that a window function makes: wrong unless the list is materialized.
  'mariadb:': { name: 'MDEV-29123', without: 'mariadb:?optimizer_switch=in_to_exists%3Doff' },
};

/** Half of the cases are of the oracle's own kind. */
const profiles = ['queries', 'mixed', 'queries', 'predicates', 'queries', 'contention', 'queries', 'keys'];

export async function benchStatement(options: readonly string[]): Promise<Figure[]> {
  const { values } = parseArgs({
    args: [...options],
    options: {
      target: { type: 'string' },
      level: { type: 'string' },
      cases: { type: 'string', default: '500' },
      minutes: { type: 'string', default: '10' },
      lanes: { type: 'string', default: '4' },
      seed: { type: 'string', default: 'silent' },
      at: { type: 'string' },
      rate: { type: 'boolean', default: false },
      'no-write': { type: 'boolean', default: false },
    },
  });
  const level = values.level === undefined ? undefined : parseLevel(values.level);
  const asked = places.filter(
    (each) =>
      (values.target === undefined || each.url === values.target) &&
      (level === undefined || each.level === level),
  );
  const figures: Figure[] = [];
  for (const place of asked) {
    const setting = { ...place, seed: values.seed, lanes: Number(values.lanes) };
    // Read when it is written: other targets may have been measured meanwhile.
    const write = async (change: (known: Known) => void) => {
      if (values['no-write']) return;
      const known = await readPage(page);
      change(known);
      await writeFile(page, pageOf(known, goals));
    };
    if (values.at !== undefined) {
      await showOne(setting, Number(values.at));
      continue;
    }
    if (values.rate) {
      const rate = await measureRate(setting);
      await write(({ rates }) => rates.set(rowKey(place), rate));
      figures.push(rateFigure(place, rate));
    } else {
      const key = rowKey(place, values.seed);
      const limits = { cases: Number(values.cases), limitMs: Number(values.minutes) * 60_000 };
      const before = (await readPage(page)).tallies.get(key);
      const tally = await judgeCases(setting, limits, before, (piece) =>
        write(({ tallies }) => tallies.set(key, piece)),
      );
      figures.push(silenceFigure(place, tally));
    }
  }
  return figures;
}

interface Setting extends Place {
  readonly seed: string;
  /** Cases at once, each in a scratch of its own: most of a case is waiting for a server. */
  readonly lanes: number;
}

/** Runs cases in lanes while `next` names one. */
async function inLanes(
  target: Target,
  { lanes, ...setting }: Setting,
  next: () => number | undefined,
  done: (judged: JudgedHistory, number: number) => Promise<void> | void,
): Promise<void> {
  const work = async () => {
    const scratch = await target.createScratch();
    const sessions = new SessionPool(scratch, { statementTimeoutMs: 5_000, lockTimeoutMs: 1_000 });
    for (let number = next(); number !== undefined; number = next())
      await done(await judgeOne(number, setting, { target, scratch, sessions }), number);
    await sessions.close();
    await scratch.drop();
  };
  await Promise.all(Array.from({ length: lanes }, work));
}

async function judgeCases(
  setting: Setting,
  { cases, limitMs }: { readonly cases: number; readonly limitMs: number },
  known: Tally | undefined,
  keep: (tally: Tally) => Promise<void>,
): Promise<Tally> {
  const target = await openTarget(setting.url);
  try {
    const { version } = target.stamp;
    const counts = {
      cases: 0,
      whole: 0,
      partly: 0,
      reads: 0,
      writes: 0,
      alarms: 0,
      explained: 0,
      cpuSeconds: 0,
    };
    const tally: Tally = known?.version === version ? { ...known } : { version, ...counts };
    let number = tally.cases;
    const last = number + cases;
    const end = performance.now() + limitMs;
    while (number < last && performance.now() < end) {
      const pieceEnd = Math.min(last, number + casesAPiece);
      const cpuStart = familyCpuMs(process.pid);
      await inLanes(
        target,
        setting,
        () => (number < pieceEnd && performance.now() < end ? number++ : undefined),
        async (judged, which) => {
          count(tally, judged);
          const unknown = judged.findings.filter((finding) => !isKnown(setting, finding, judged));
          tally.explained += judged.findings.length - unknown.length;
          if (unknown.length > 0 && (await isExplained(setting, which))) tally.explained += unknown.length;
        },
      );
      tally.cpuSeconds += Math.round((familyCpuMs(process.pid) - cpuStart) / 1000);
      await keep(tally);
    }
    return tally;
  } finally {
    await target.close();
  }
}

/** Whether the transactions of a finding had done what a known bug needs, as in `check:silence`. */
function isKnown(setting: Setting, finding: Finding, { history }: JudgedHistory): boolean {
  const bug = bugBehind(finding, history, setting);
  if (bug !== undefined) console.log(`explained by ${bug.report}`);
  return bug !== undefined;
}

/** Whether the alarm is the engine's known bug: it always comes, and never under the setting without the bug. */
async function isExplained(setting: Setting, number: number): Promise<boolean> {
  const bug = knownBugs[setting.url];
  if (bug === undefined) return false;
  const targets = [await openTarget(setting.url)];
  try {
    targets.push(await openTarget(bug.without));
    const [asItIs, without] = targets.map((target) => async () => {
      const scratch = await target.createScratch();
      try {
        return runOf(await judgeOne(number, setting, { target, scratch }));
      } finally {
        await scratch.drop();
      }
    });
    const { explained, why } = await explainAlarm(asItIs!, without!);
    console.log(
      `case ${number} is ${explained ? '' : 'NOT '}explained by ${bug.name} (${bug.without}): ${why}`,
    );
    return explained;
  } finally {
    await Promise.all(targets.map((target) => target.close()));
  }
}

async function measureRate(setting: Setting): Promise<Rate> {
  const target = await openTarget(setting.url);
  try {
    let number = 0;
    await inLanes(
      target,
      setting,
      () => (number < warmUpCases ? number++ : undefined),
      () => undefined,
    );
    let cases = 0;
    const start = performance.now();
    const [cpuStart, busyStart] = [familyCpuMs(process.pid), busySeconds()];
    await inLanes(
      target,
      setting,
      () => (performance.now() - start < 1000 * rateSeconds ? number++ : undefined),
      () => void cases++,
    );
    const seconds = (performance.now() - start) / 1000;
    const cpuSeconds = (familyCpuMs(process.pid) - cpuStart) / 1000;
    const others = busySeconds() - busyStart - cpuSeconds;
    return { version: target.stamp.version, cases, seconds, cpuSeconds, others };
  } finally {
    await target.close();
  }
}

async function showOne(setting: Setting, number: number): Promise<void> {
  const target = await openTarget(setting.url);
  try {
    const { valid, notes } = await judgeOne(number, setting, {
      target,
      scratch: await target.createScratch(),
    });
    console.log([valid, ...notes].join('\n'));
  } finally {
    await target.close();
  }
}

async function judgeOne(
  number: number,
  { url, level, seed }: Omit<Setting, 'lanes'>,
  place: { readonly target: Target; readonly scratch: Scratch; readonly sessions?: SessionPool },
): Promise<JudgedHistory> {
  const generated = generate(`${seed}/${number}`, {
    capabilities: capabilitiesOf(place.target),
    profile: profiles[number % profiles.length]!,
    level,
    sessions: 3,
    transactions: 2,
    statements: 2,
    interleaving: number % 3 === 0 ? 'conflict' : 'random',
  });
  const judged = await runAndJudge({ ...generated, oracle: 'statement', level }, place);
  for (const finding of judged.findings)
    console.log(
      `ALARM ${finding.kind} (${finding.clause})\n${explain(finding)}\nnpm run bench statement -- --target '${url}' --level '${level}' --seed ${seed} --at ${number}`,
    );
  return judged;
}

function count(tally: Tally, judged: JudgedHistory): void {
  const { valid, findings, checked } = judged;
  tally.cases++;
  const { compared } = runOf(judged);
  // A case whose transactions all failed has nothing to compare, and is not counted as judged.
  if (valid === true && compared > 0) tally.whole++;
  else if (compared > 0) tally.partly++;
  tally.reads += checked?.reads ?? 0;
  tally.writes += checked?.writes ?? 0;
  tally.alarms += findings.length;
}

function silenceFigure({ url, level }: Place, tally: Tally): Figure {
  const { cases, whole, partly, alarms, explained } = tally;
  return {
    name: `${url} ${level}`,
    measured: `${cases} cases, ${whole} judged whole and ${partly} in part, ${alarms} alarms, ${explained} of them by known bugs`,
    target: `no other alarm in ${wantedCases} cases`,
    pass: cases >= wantedCases && alarms === explained,
  };
}

function rateFigure({ url, level }: Place, { cases, seconds, cpuSeconds, others }: Rate): Figure {
  const rate = (60 * cases) / seconds;
  return {
    name: `${url} ${level}`,
    measured: `${rate.toFixed(0)} cases a minute, ${((60 * cases) / cpuSeconds).toFixed(0)} a minute of processor time; others used ${others.toFixed(0)} processor seconds in ${seconds.toFixed(0)} s`,
    target: `${wantedPerMinute} a minute`,
    pass: rate >= wantedPerMinute,
    published: `TxCheck: ${txcheckPerMinute} a minute`,
  };
}
