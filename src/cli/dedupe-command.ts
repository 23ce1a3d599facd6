/** `isolde dedupe`: is a stored bug, a case, a history or a pasted report known already? And are two of them one bug? */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { IsoldeError } from '../errors.js';
import {
  type Asked as AskedExpert,
  answersIn,
  decideByExperts,
  type ExpertVerdict,
  openEndpoint,
  usualMaxCalls,
} from '../experts/index.js';
import {
  isKnown,
  isKnownByText,
  isSameBug,
  type KnownAnswer,
  type Repository,
  type SameBug,
} from '../known/index.js';
import { oneLine } from '../visible.js';
import { type CliContext, type ExitCode, exitCodes, trustCaseHelp } from './context.js';
import { withBuilds } from './dedupe-builds.js';
import { asksForMatrix, compareByMatrix, type WitnessFlags } from './dedupe-matrix.js';
import { type DedupeSubject, readSubject, type SubjectFlags, withDatabase } from './dedupe-subject.js';
import { positive } from './flags.js';
import { admitted, knownFolder, knownFolderHelp, openAllKnown } from './known-command.js';

interface DedupeFlags extends SubjectFlags, WitnessFlags {
  readonly known: string;
  readonly explain?: boolean;
  readonly json?: boolean;
  readonly llm?: string;
  readonly model?: string;
  readonly maxCalls: string;
  readonly llmTimeout: string;
  readonly transcript?: string;
  readonly price?: string;
}

export function dedupeCommand(program: Command, context: CliContext, exit: (code: ExitCode) => void): void {
  program
    .command('dedupe')
    .argument('<what>', 'a bug of the store, or a file: a case, a history, an issue, a pasted report')
    .argument('[other]', 'another one: say whether both are one bug')
    .description('say whether a bug is known already: duplicate of a report, unique, or undecided')
    .option(
      '-t, --target <url>',
      'the database (default: the bug’s own engine; for files ISOLDE_TARGET, or duckdb:)',
    )
    .option('-e, --engine <name>', 'of which engine a report speaks that has no case')
    .option('--store <folder>', 'the store', '.isolde')
    .option('--known <folder>', knownFolderHelp, knownFolder)
    .option('--no-run', 'compare features only: run nothing')
    .option('--explain', 'print the features with their weights, and why each candidate fits or not')
    .option(
      '--llm <url>',
      'ask four experts on this endpoint (OpenAI’s protocol) about what running leaves open',
    )
    .option('--model <name>', 'the model they run on')
    .option(
      '--max-calls <count>',
      'calls to the model for 16 candidates; fewer get their share',
      String(usualMaxCalls),
    )
    .option('--llm-timeout <seconds>', 'for one call', '120')
    .option('--price <in,out>', 'of a million tokens asked and answered, to print what it cost')
    .option('--transcript <file>', 'write down all they were asked and said (default: in the store’s folder)')
    .option('--targets <url...>', 'compare on these databases, too')
    .option(
      '--versions <list>',
      'and on versions of each: 1.1.3,1.2.0 or 1.1..1.4 or all or local, or reported (that a report names, and their neighbours)',
    )
    .option(
      '--settings <setting>',
      'and with settings: name=value,value (may be repeated), or all',
      (value: string, all: readonly string[] = []) => [...all, value],
    )
    .option('-n, --runs <count>', 'with two: how often each cell is run', '3')
    .option('-j, --jobs <count>', 'with two: databases that are open at once', '2')
    .option('--trust-case', trustCaseHelp)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExit code: 0 not known (or two bugs), 1 known (or one bug), 2 undecided, 3 error.\nThe key of an endpoint is read from ISOLDE_LLM_KEY, or OPENAI_API_KEY.',
    )
    .action(async (what: string, other: string | undefined, flags: DedupeFlags) =>
      exit(
        other === undefined
          ? await dedupe(what, flags, context)
          : asksForMatrix(flags)
            ? await compareByMatrix([what, other], flags, context)
            : await compareTwo([what, other], flags, context),
      ),
    );
}

interface Job {
  readonly flags: DedupeFlags;
  readonly context: CliContext;
  readonly repository: Repository;
}

async function dedupe(what: string, flags: DedupeFlags, context: CliContext): Promise<ExitCode> {
  const experts = expertsOf(flags, context);
  const repository = await openAllKnown(flags.known, context);
  const job = { flags, context, repository };
  const subject = await readSubject(what, flags, context);
  const answer = await answerAbout(subject, job);
  const verdict = experts === undefined ? undefined : await experts(subject, answer, repository);
  tell(verdict === undefined ? answer : { ...answer, ...verdict }, verdict, job);
  return { unique: exitCodes.nothingFound, duplicate: exitCodes.found, undecided: exitCodes.undecided }[
    (verdict ?? answer).verdict
  ];
}

async function answerAbout(
  subject: DedupeSubject,
  { flags, context, repository }: Job,
): Promise<KnownAnswer> {
  if (subject.kind === 'text') return isKnownByText(subject.engine, subject.features, repository);
  const { asked, place: where } = subject;
  if (where === undefined) return isKnown(asked, repository);
  return withDatabase(where.url, context, async (place) => {
    const usable = await admitted(repository, place.target, flags.trustCase === true);
    const home = { url: where.url, target: place.target, case: asked.behaviour.case };
    return withBuilds(home, flags, context, (builds) => isKnown(asked, usable, place, { builds }));
  });
}

/** Two things that can be run: one bug or two? */
async function compareTwo(
  names: readonly [string, string],
  flags: DedupeFlags,
  context: CliContext,
): Promise<ExitCode> {
  const [one, other] = [
    await readSubject(names[0], flags, context),
    await readSubject(names[1], flags, context),
  ];
  for (const [i, subject] of [one, other].entries())
    if (subject.kind === 'text')
      throw new IsoldeError(
        'usage',
        `${names[i]} shows nothing that could be compared: two findings are needed`,
      );
  if (one.kind !== 'finding' || other.kind !== 'finding') return exitCodes.error;
  const { verdict, why } = await sameBug(one, other, context);
  if (flags.json === true) context.out(JSON.stringify({ verdict, why }, null, 2));
  else {
    const words = { same: 'one bug', different: 'two bugs', undecided: 'undecided' }[verdict];
    context.out(`${context.colors.bold(words)}\n  ${oneLine(why)}`);
  }
  return { different: exitCodes.nothingFound, same: exitCodes.found, undecided: exitCodes.undecided }[
    verdict
  ];
}

type Finding = Extract<DedupeSubject, { readonly kind: 'finding' }>;

/** Both run where the first one was found, if that can be run. */
function sameBug(one: Finding, other: Finding, context: CliContext): Promise<SameBug> {
  if (one.place === undefined || other.place === undefined) return isSameBug(one.asked, other.asked);
  return withDatabase(one.place.url, context, (place) => isSameBug(one.asked, other.asked, place));
}

type Experts = (
  subject: DedupeSubject,
  answer: KnownAnswer,
  repository: Repository,
) => Promise<ExpertVerdict | undefined>;

/** The experts, if they are asked for; checks the options before anything is run. */
function expertsOf(flags: DedupeFlags, context: CliContext): Experts | undefined {
  if (flags.llm === undefined) return undefined;
  if (flags.model === undefined)
    throw new IsoldeError('usage', '--llm needs the name of a model: --model NAME');
  const key = context.env?.ISOLDE_LLM_KEY ?? context.env?.OPENAI_API_KEY;
  const endpoint = openEndpoint({
    ...{ url: flags.llm, model: flags.model, timeoutMs: 1000 * positive(flags.llmTimeout, '--llm-timeout') },
    ...{ signal: context.signal, ...(key !== undefined && { key }) },
  });
  const maxCalls = positive(flags.maxCalls, '--max-calls');
  const price = priceOf(flags.price);
  return async (subject, answer, repository) => {
    if (subject.kind === 'text') {
      context.err('note: the experts compare a finding; there is none here');
      return undefined;
    }
    const { target, level, behaviour } = subject.asked;
    const { contract } = behaviour.finding;
    const bug = { ...behaviour, target, level, ...(contract !== undefined && { contract }) };
    const transcript: AskedExpert[] = [];
    const verdict = await decideByExperts(bug, answer, repository, {
      ...{ endpoint, maxCalls, cache: answersIn(join(flags.store, 'experts', 'answers')) },
      onAsked: (asked) => transcript.push(asked),
    });
    const { counts } = verdict;
    if (transcript.length > 0) {
      const file =
        flags.transcript ?? join(flags.store, 'experts', `${transcript[0]!.key.slice(0, 12)}.json`);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, `${JSON.stringify({ verdict, asked: transcript }, null, 1)}\n`);
      context.err(`the experts’ transcript is in ${file}`);
    }
    const cost =
      price === undefined
        ? ''
        : `, ${((counts.promptTokens * price[0] + counts.answerTokens * price[1]) / 1e6).toFixed(4)} by --price`;
    context.err(
      `experts: ${counts.calls} calls (${counts.retries} repeated), ${counts.cached} answers kept from before, ${counts.promptTokens} tokens asked, ${counts.answerTokens} answered${cost}`,
    );
    return verdict;
  };
}

function priceOf(text: string | undefined): readonly [number, number] | undefined {
  if (text === undefined) return undefined;
  const [, asked, answered] = /^(\d+(?:\.\d+)?),(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  if (asked === undefined)
    throw new IsoldeError('usage', `--price ${text}: expected two numbers, such as 0.15,0.60`);
  return [Number(asked), Number(answered)];
}

function tell(answer: KnownAnswer, experts: ExpertVerdict | undefined, job: Job): void {
  const { flags, context } = job;
  if (flags.json === true) {
    const { verdict, reports, why, candidates } = answer;
    const { counts, savings, settledBy } = experts ?? {};
    const asked = experts === undefined ? {} : { experts: { counts, savings, settledBy } };
    const features = flags.explain === true ? { features: weighed(answer, job) } : {};
    context.out(JSON.stringify({ verdict, reports, why, candidates, ...asked, ...features }, null, 2));
    return;
  }
  tellVerdict(answer, context);
  if (flags.explain === true) explainAnswer(answer, job);
}

function tellVerdict({ verdict, reports, why }: KnownAnswer, context: CliContext): void {
  const { bold } = context.colors;
  const [first, ...more] = reports;
  if (verdict === 'duplicate' && first !== undefined) {
    context.out(
      bold(`duplicate of ${oneLine(first.name)}${first.url === undefined ? '' : ` <${first.url}>`}`),
    );
    context.out(`  ${why}`);
    for (const { name, why: reason } of more) context.out(`  also ${oneLine(name)}: ${reason}`);
  } else if (verdict === 'undecided') {
    const between = reports.map(({ name }) => oneLine(name)).join(', ');
    context.out(bold(between === '' ? 'undecided' : `undecided between ${between}`));
    for (const { name, why: reason } of reports) context.out(`  ${oneLine(name)}: ${reason}`);
    context.out(`  ${why}`);
  } else context.out(`${bold('not known')}\n  ${why}`);
}

function weighed({ vector }: KnownAnswer, { repository }: Job) {
  return [...vector].map(([name, value]) => ({ name, value, weight: repository.weights.get(name) ?? 0 }));
}

function explainAnswer(answer: KnownAnswer, job: Job): void {
  const { context } = job;
  context.out('\nfeatures, by weight');
  for (const { name, value, weight } of weighed(answer, job).sort((a, b) => b.weight - a.weight))
    context.out(`  ${weight.toFixed(5)}  ${name}${value === 1 ? '' : ` = ${value}`}`);
  context.out('\ncandidates');
  for (const { id, likeness, match, why } of answer.candidates)
    context.out(`  ${likeness.toFixed(3)}  ${id}: ${match}; ${oneLine(why)}`);
}
