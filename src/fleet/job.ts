/**
 * What jobs are, and how their text is read. A payload comes from another machine: it is read by name, everything in it is checked, and
 * what is not known is refused.
 */
import {
  type Case,
  parseCaseFile,
  printCaseFile,
  type Schedule,
  type ScheduledCase,
} from '../cases/index.js';
import { oracles } from '../check/index.js';
import { findContract, type Level, levels } from '../contracts/index.js';
import { parseProfile, profiles } from '../generate/index.js';
import { type FormatName, formatNames } from '../histories/index.js';
import { checkFormat, type JsonNode, optional, parseJson } from '../json.js';

const format = 'isolde-job';
const version = 1;

/** Rounds `from` up to, not including, `to` of a hunt. */
export interface HuntJob {
  readonly kind: 'hunt';
  readonly target: string;
  readonly seed: string;
  readonly from: number;
  readonly to: number;
  /** Default: the target's. */
  readonly level?: Level;
  readonly contract: string;
  /** A name, or the text of a profile file. */
  readonly profile?: string;
  readonly oracles?: readonly string[];
  /** Replays that must all show a finding. */
  readonly runs: number;
}

/** A history, in `job_inputs`, held to a level or a contract. */
export interface CheckJob {
  readonly kind: 'check';
  readonly file: string;
  readonly historyFormat?: FormatName;
  readonly level?: string;
  readonly contract?: string;
}

/** How the trials of a reduction are judged. */
export interface TrialSettingData {
  readonly oracle: string;
  readonly contract?: string;
  readonly level?: Level;
}

/** A case to shrink, or a history with a finding, which is in `job_inputs`. */
export interface ReduceJob {
  readonly kind: 'reduce';
  readonly target: string;
  readonly subject: ScheduledCase | { readonly history: string };
  readonly level?: Level;
  readonly contract?: string;
  readonly oracle?: string;
  /** Runs of the result that must show the finding. */
  readonly runs: number;
  /** Trials that run at once. */
  readonly lanes: number;
}

/** One trial of a reduction: does this case still show the finding of that identity? */
export interface TrialJob {
  readonly kind: 'trial';
  readonly target: string;
  readonly case: Case;
  readonly schedule: Schedule;
  readonly setting: TrialSettingData;
  readonly identity: string;
  /** Statements that may fail with something meaningless. */
  readonly tolerated: readonly string[];
}

/** What a cell of a matrix runs: a case, in one of the forms of files, or a bug of the store that the fleet shares. */
export type CellSubject =
  | {
      /** What the file is called. */
      readonly file: string;
      /** What stands in it. */
      readonly text: string;
    }
  | { readonly bug: string };

/** A cell of a matrix: one case on one database. */
export interface MatrixJob {
  readonly kind: 'matrix';
  readonly target: string;
  readonly subject: CellSubject;
  /** Default: the case's own. */
  readonly level?: Level;
  readonly runs: number;
}

export type Job = HuntJob | CheckJob | ReduceJob | TrialJob | MatrixJob;

/** Rounds a hunt job may have, and trials a reduction may run at once: what a slip of the pen must not exceed. */
const mostRounds = 1_000_000;
const mostLanes = 256;
const longestText = 4_000;

export function printJob(job: Job): string {
  if (job.kind === 'trial') {
    const { case: program, schedule, ...rest } = job;
    return JSON.stringify({ format, version, ...rest, file: printCaseFile({ case: program, schedule }) });
  }
  if (job.kind === 'matrix') {
    const { subject, ...rest } = job;
    return JSON.stringify({ format, version, ...rest, ...subject });
  }
  if (job.kind !== 'reduce') return JSON.stringify({ format, version, ...job });
  const { subject, ...rest } = job;
  const what = 'history' in subject ? subject : { file: printCaseFile(subject) };
  return JSON.stringify({ format, version, ...rest, ...what });
}

export function parseJob(text: string, name: string): Job {
  const node = parseJson(text, name);
  checkFormat(node, format, version);
  switch (node.at('kind').oneOf(['hunt', 'check', 'reduce', 'trial', 'matrix'])) {
    case 'hunt':
      return parseHunt(node);
    case 'check':
      return parseCheck(node);
    case 'reduce':
      return parseReduce(node);
    case 'trial':
      return parseTrial(node);
    case 'matrix':
      return parseMatrix(node);
  }
}

const head = ['format', 'version', 'kind'];

function parseHunt(node: JsonNode): HuntJob {
  node.object([...head, 'target', 'seed', 'from', 'to', 'level', 'contract', 'profile', 'oracles', 'runs']);
  const [from, to] = [node.at('from').count(), node.at('to').count()];
  if (to <= from || to - from > mostRounds)
    node.at('to').fail(`expected up to ${mostRounds} rounds behind "from"`);
  return {
    kind: 'hunt',
    target: short(node.at('target')),
    seed: short(node.at('seed')),
    from,
    to,
    ...optional('level', node.maybe('level', readLevel)),
    contract: short(node.at('contract')),
    ...optional('profile', node.maybe('profile', readProfile)),
    ...optional(
      'oracles',
      node.maybe('oracles', (list) => list.items().map(readOracle)),
    ),
    runs: positive(node.at('runs'), 1000),
  };
}

function parseCheck(node: JsonNode): CheckJob {
  node.object([...head, 'file', 'historyFormat', 'level', 'contract']);
  return {
    kind: 'check',
    file: fileName(node.at('file')),
    ...optional(
      'historyFormat',
      node.maybe('historyFormat', (each) => each.oneOf(formatNames)),
    ),
    ...optional('level', node.maybe('level', short)),
    ...optional('contract', node.maybe('contract', short)),
  };
}

function parseReduce(node: JsonNode): ReduceJob {
  node.object([...head, 'target', 'file', 'history', 'level', 'contract', 'oracle', 'runs', 'lanes']);
  const history = node.maybe('history', fileName);
  return {
    kind: 'reduce',
    target: short(node.at('target')),
    subject:
      history === undefined ? parseCaseFile(node.at('file').text(), 'the case of the job') : { history },
    ...optional('level', node.maybe('level', readLevel)),
    ...optional('contract', node.maybe('contract', readContract)),
    ...optional('oracle', node.maybe('oracle', readOracle)),
    runs: positive(node.at('runs'), 1000),
    lanes: positive(node.at('lanes'), mostLanes),
  };
}

function parseMatrix(node: JsonNode): MatrixJob {
  node.object([...head, 'target', 'file', 'text', 'bug', 'level', 'runs']);
  const bug = node.maybe('bug', fileName);
  return {
    kind: 'matrix',
    target: short(node.at('target')),
    subject: bug === undefined ? { file: fileName(node.at('file')), text: node.at('text').text() } : { bug },
    ...optional('level', node.maybe('level', readLevel)),
    runs: positive(node.at('runs'), 1000),
  };
}

function parseTrial(node: JsonNode): TrialJob {
  node.object([...head, 'target', 'file', 'setting', 'identity', 'tolerated']);
  const { case: program, schedule } = parseCaseFile(node.at('file').text(), 'the case of the job');
  const setting = node.at('setting').object(['oracle', 'contract', 'level']);
  return {
    kind: 'trial',
    target: short(node.at('target')),
    case: program,
    schedule: schedule ?? node.at('file').fail('a trial needs a schedule'),
    setting: {
      oracle: readOracle(setting.at('oracle')),
      ...optional('contract', setting.maybe('contract', readContract)),
      ...optional('level', setting.maybe('level', readLevel)),
    },
    identity: node.at('identity').text(),
    tolerated: node
      .at('tolerated')
      .items()
      .map((each) => each.text()),
  };
}

function short(node: JsonNode): string {
  const text = node.text();
  return text.length <= longestText ? text : node.fail(`expected at most ${longestText} characters`);
}

function fileName(node: JsonNode): string {
  const name = short(node);
  return /^[\w@+ -][\w.@+ -]{0,199}$/.test(name) ? name : node.fail('expected a plain file name');
}

function positive(node: JsonNode, most: number): number {
  const count = node.count();
  return count >= 1 && count <= most ? count : node.fail(`expected a number from 1 to ${most}`);
}

const readLevel = (node: JsonNode): Level => node.oneOf(levels);

function readContract(node: JsonNode): string {
  const id = short(node);
  return findContract(id) === undefined ? node.fail(`no contract is called ${JSON.stringify(id)}`) : id;
}

function readOracle(node: JsonNode): string {
  return node.oneOf(oracles.flatMap(({ name, judge }) => (judge === undefined ? [] : [name])));
}

function readProfile(node: JsonNode): string {
  const text = node.text();
  if (!profiles.some(({ name }) => name === text)) parseProfile(text, 'the profile of the job');
  return text;
}
