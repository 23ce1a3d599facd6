/**
 * What `isolde dedupe` is asked about: a bug of the store, a case, a history or a report. Whatever can be run becomes a finding of a reduced
 * case; the rest is compared by its text.
 */

import { existsSync } from 'node:fs';
import { parseCaseFile, type ScheduledCase } from '../cases/index.js';
import { IsoldeError } from '../errors.js';
import { readAnyHistory } from '../histories/index.js';
import { contractAt, Database, type Look, lookAtCase, usualChoice } from '../judge/index.js';
import {
  type AskedBug,
  caseFeatures,
  caseInText,
  type Features,
  type KnownPlace,
  readReportTexts,
  textFeatures,
} from '../known/index.js';
import { DatabaseOracle, reduceSubject, subjectOfHistory } from '../reduce/index.js';
import { homeUrl } from '../report/index.js';
import { inferSchedule, rawInProgram } from '../reproduce/index.js';
import { openStore } from '../store/index.js';
import { admit, openTarget, sqlOfCase } from '../targets/index.js';
import { counted } from '../words.js';
import type { CliContext } from './context.js';
import { readPlain } from './known-command.js';
import { isHistoryFile, readReplayable } from './replayable-history.js';

export interface SubjectFlags {
  readonly target?: string;
  readonly engine?: string;
  readonly store: string;
  readonly run: boolean;
  readonly trustCase?: boolean;
}

export type DedupeSubject =
  /** A finding; `place`: where candidates are run (no URL: the embedded default), absent: nothing is. */
  | {
      readonly kind: 'finding';
      readonly asked: AskedBug;
      readonly place?: { readonly url: string | undefined };
    }
  /** Only features are known. */
  | { readonly kind: 'text'; readonly engine: string | undefined; readonly features: Features };

/** `-` and names that are no file are bugs of the store. */
export async function readSubject(
  what: string,
  flags: SubjectFlags,
  context: CliContext,
): Promise<DedupeSubject> {
  if (!existsSync(what)) return bugOfStore(what, flags, context);
  if (await isHistoryFile(what)) return findingOfHistory(what, flags, context);
  const report = await readReport(what);
  const engine = flags.engine ?? report.engine;
  const { found } = report;
  if (found === undefined) return { kind: 'text', engine, features: textFeatures(report.text, engine) };
  if (!flags.run) return { kind: 'text', engine, features: caseFeatures(found.case, { engine }) };
  return findingOfCase(what, { ...report, found }, flags, context);
}

interface ReadReport {
  readonly text: string;
  /** Of which it speaks, if it says so. */
  readonly engine?: string;
  readonly found: ScheduledCase | undefined;
}

/** A case in one of our forms, or a report with or without one. */
async function readReport(file: string): Promise<ReadReport> {
  const content = await readPlain(file);
  if (/\.case\.json$/.test(file)) return { text: content, found: parseCaseFile(content, file) };
  const [report, ...more] = readReportTexts(content, file);
  if (report === undefined || more.length > 0)
    throw new IsoldeError(
      'usage',
      `${file} has ${counted(report === undefined ? 0 : more.length + 1, 'report')}: one is asked about`,
    );
  const { text, engine } = report;
  return { text, ...(engine !== undefined && { engine }), found: caseInText(text, file) };
}

async function bugOfStore(id: string, flags: SubjectFlags, context: CliContext): Promise<DedupeSubject> {
  const bug = await (await openStore(flags.store)).get(id);
  const asked: AskedBug = { target: bug.target, level: bug.level, behaviour: bug };
  if (!flags.run || bug.target.settings?.fault !== undefined) return { kind: 'finding', asked };
  const url = flags.target ?? homeUrl(bug) ?? context.defaultTarget;
  if (url === undefined)
    throw new IsoldeError(
      'usage',
      `a ${bug.target.name} server must be named with --target, or use --no-run`,
    );
  return { kind: 'finding', asked, place: { url } };
}

/** Runs on the engine that a report is about, unless another one is named. */
async function findingOfCase(
  file: string,
  report: ReadReport & { readonly found: ScheduledCase },
  flags: SubjectFlags,
  context: CliContext,
): Promise<DedupeSubject> {
  const { case: program } = report.found;
  const about = flags.engine ?? report.engine;
  const byFeatures = (engine: string | undefined, why: string): DedupeSubject => {
    context.err(`${why}: compared by features`);
    return { kind: 'text', engine, features: caseFeatures(program, { engine }) };
  };
  const own = about === undefined ? undefined : homeUrl({ target: { name: about, version: '' } });
  const url = flags.target ?? own ?? (about === undefined ? context.defaultTarget : undefined);
  if (about !== undefined && url === undefined)
    return byFeatures(
      about,
      `${file} is about ${about}, which cannot be started here (name a server with --target)`,
    );
  try {
    return await withDatabase(url, context, async ({ target, observe }) => {
      await admit(target, sqlOfCase(program), { trust: flags.trustCase === true, source: file });
      const level = program.level ?? target.defaultLevel;
      const contract = contractAt(usualChoice, target, level);
      const look = await lookAtCase(
        report.found,
        { contract, level },
        { target, observe, signal: context.signal },
      );
      if (look.kind === 'nothing')
        return byFeatures(target.name, `nothing is wrong with a run of ${file} on ${target.name}`);
      const behaviour = behaviourOf(report.found, look);
      return { kind: 'finding', asked: { target: target.stamp, level, behaviour }, place: { url } };
    });
  } catch (error) {
    // The engine was not asked for: that it is not here is no reason to give no answer.
    if (!(error instanceof IsoldeError) || error.code !== 'engine-missing' || flags.target !== undefined)
      throw error;
    return byFeatures(about, error.message);
  }
}

/** What a run showed, with its order: the case's own, or the one inferred from a free run. */
function behaviourOf(
  { case: program, schedule }: ScheduledCase,
  { history, findings: [finding], order }: Look & { readonly kind: 'found' },
): NonNullable<AskedBug['behaviour']> {
  if (schedule !== undefined) return { case: program, schedule, finding, history };
  const inferred = inferSchedule(history, order);
  return { case: inferred.case, schedule: inferred.schedule, finding, history: rawInProgram(inferred) };
}

/** A history is brought back and reduced first: a signature takes everything in a case for necessary. */
async function findingOfHistory(
  file: string,
  flags: SubjectFlags,
  context: CliContext,
): Promise<DedupeSubject> {
  if (!flags.run) return featuresOfHistory(file, flags);
  const url = flags.target ?? context.defaultTarget;
  const { signal } = context;
  const oracle = await DatabaseOracle.open({ open: () => openTarget(url), signal });
  try {
    const { target } = oracle;
    const replayable = await readReplayable(file, target, { trust: flags.trustCase === true }, context);
    const subject = subjectOfHistory(replayable, oracle);
    if ('valid' in subject) {
      context.err(`nothing is wrong with ${file} under ${replayable.contract.id}: compared by features`);
      return featuresOfHistory(file, flags);
    }
    context.err(`${file} shows ${subject.raw!.finding.kind}: reducing it on ${target.name}`);
    const outcome = await reduceSubject(subject, { oracle, signal });
    const { finding, history } = outcome.kind === 'reduced' ? outcome.result : {};
    if (outcome.kind !== 'reduced' || finding === undefined || history === undefined) {
      context.err(`what ${file} shows does not come back on ${target.name}: compared by features`);
      return featuresOfHistory(file, flags);
    }
    const { case: program, schedule } = outcome.result.result;
    const level = history.header.level ?? target.defaultLevel;
    return {
      kind: 'finding',
      asked: { target: target.stamp, level, behaviour: { case: program, schedule, finding, history } },
      place: { url },
    };
  } finally {
    await oracle.close();
  }
}

async function featuresOfHistory(file: string, flags: SubjectFlags): Promise<DedupeSubject> {
  const read = await readAnyHistory(file);
  if (read.kind !== 'sql')
    throw new IsoldeError(
      'usage',
      `${file} is a key-value history: it has no statements that could be compared`,
    );
  const { header, operations } = read;
  const sessions = header.sessions.map((name, s) => ({
    name,
    statements: operations.filter(({ session }) => session === s).flatMap(({ sql }) => sql ?? []),
  }));
  const engine = flags.engine ?? header.target?.name;
  const program = { name: file, setup: header.setup ?? [], sessions };
  return { kind: 'text', engine, features: caseFeatures(program, { engine, level: header.level }) };
}

export async function withDatabase<T>(
  url: string | undefined,
  { signal }: CliContext,
  use: (place: KnownPlace) => Promise<T>,
): Promise<T> {
  const database = await Database.open({ open: () => openTarget(url), signal });
  try {
    return await use({ target: database.target, observe: (request) => database.observe(request, 0) });
  } finally {
    await database.close();
  }
}
