/**
 * The oracle of a burst: one for each program, which asks for the program's closing queries and judges the history in two ways:
 *
 * 1. the program's fact, where the contract demands it;
 * 2. the dependency graph, where the program's statements say which values were read and written: a cycle that the contract forbids.
 *
 * A graph that cannot be decided says nothing against the fact. It is made for its program and stands in no registry; what judges every run
 * (deaths of the server, declared keys) judges bursts, too.
 */
import {
  type Finding,
  findingAbout,
  type JudgedHistory,
  judgedHistory,
  type Oracle,
  ofData,
  oracleNamed,
  say,
} from '../../check/index.js';
import type { Contract } from '../../contracts/index.js';
import { describeKind } from '../../contracts/index.js';
import type { History } from '../../histories/index.js';
import type { Burst } from './burst-form.js';
import { type BurstOutcome, type BurstProgram, effects } from './burst-program.js';

const name = 'burst';
/** A graph takes milliseconds; one that does not is left open. */
const graphSeconds = 5;
export const graphFact =
  'the dependencies between committed transactions have no cycle that the level forbids';

/** The clause by which a burst can be judged: that of its fact, or of the graph. */
export function clauseOf({ program, form }: Burst, contract: Contract): string | undefined {
  const byGraph = form === 'statements' && program.graph !== undefined && contract.forbids.length > 0;
  return program.clause(contract) ?? (byGraph ? `forbids ${contract.forbids.join(', ')}` : undefined);
}

export function burstOracle(burst: Burst): Oracle<undefined> {
  const { program } = burst;
  return {
    name,
    title: program.fact,
    needs: { run: 'extra-reads' },
    refuses: (contract) =>
      clauseOf(burst, contract) === undefined ? 'it does not demand the fact' : undefined,
    prepare: (given) => ({ program: given, observe: program.final, plan: undefined }),
    judge(history, _plan, { contract }) {
      const { findings, unknown, text } = judgeBurst(burst, history, contract);
      return judgedHistory(history, {
        oracle: name,
        contract: contract.id,
        findings,
        unknownReasons: findings.length === 0 && unknown ? [text] : [],
        notes: [text],
      });
    },
  };
}

interface Judged {
  readonly findings: readonly Finding[];
  readonly unknown: boolean;
  readonly text: string;
}

function judgeBurst(burst: Burst, history: History, contract: Contract): Judged {
  const { program, form } = burst;
  const { kind, text } = judgeFact(program, history, contract);
  const graph = form === 'statements' ? judgeGraph(program, history, contract) : undefined;
  const clause = program.clause(contract);
  const ofFact =
    kind === 'broken'
      ? [brokenFact({ fact: program.fact, text, clause: clause ?? '' }, history, contract)]
      : [];
  if (graph?.kind === 'broken') {
    const said = ofFact.length === 0 ? `${graph.text} in the graph` : `${text}, ${graph.text} in the graph`;
    const ofGraph = brokenFact({ ...graph, fact: graphFact }, history, contract);
    return { findings: [...ofFact, ofGraph], unknown: false, text: said };
  }
  // Where the contract does not demand the fact, the graph alone decides.
  const open = clause === undefined ? graph?.kind === 'unknown' : kind === 'unknown';
  return { findings: ofFact, unknown: open, text: clause === undefined ? (graph?.text ?? text) : text };
}

function judgeFact(program: BurstProgram, history: History, contract: Contract): BurstOutcome {
  // Whatever is never committed breaks nothing: such a run shows nothing.
  if (effects(history).most === 0) return { kind: 'unknown', text: 'nothing was committed' };
  if (program.clause(contract) === undefined) return { kind: 'kept', text: 'not asked' };
  const closing = history.operations.slice(-program.final.length);
  const isRead = closing.every(({ kind, outcome }) => kind === 'select' && outcome === 'ok');
  return program.judge({ history, final: isRead ? closing.map(({ rows = [] }) => rows) : undefined });
}

function judgeGraph(
  { graph }: BurstProgram,
  history: History,
  contract: Contract,
): (BurstOutcome & { readonly clause: string }) | undefined {
  if (graph === undefined || contract.forbids.length === 0) return undefined;
  const recorded = { kind: 'kv', history: graph(history) } as const;
  const limits = { budget: graphSeconds, strongest: false };
  const verdict = oracleNamed('key-value').check?.(recorded, { contract }, limits);
  const [finding] = verdict?.findings ?? [];
  if (finding !== undefined) {
    const clause = finding.clause ?? `forbids ${finding.kind}`;
    return { kind: 'broken', text: describeKind(finding.kind).title, clause };
  }
  const why = verdict?.unknownReasons[0];
  return why === undefined
    ? { kind: 'kept', text: 'as it must be', clause: '' }
    : { kind: 'unknown', text: why, clause: '' };
}

/** How a run ended, in a text that is the same for runs that ended in the same way. */
export function outcomeOf({ findings, unknownReasons, notes }: JudgedHistory): BurstOutcome {
  const [finding] = findings;
  if (finding !== undefined) {
    const own = finding.oracle === name ? notes[0] : undefined;
    return { kind: 'broken', text: own ?? describeKind(finding.kind).title };
  }
  const [why] = unknownReasons;
  return why === undefined ? { kind: 'kept', text: notes[0]! } : { kind: 'unknown', text: why };
}

function brokenFact(
  { fact, text, clause }: { readonly fact: string; readonly text: string; readonly clause: string },
  history: History,
  contract: Contract,
): Finding {
  return findingAbout(history, [history.operations.at(-1)!], {
    kind: 'broken-fact',
    oracle: name,
    contract: contract.id,
    clause,
    explanation: [
      say.rule`Whatever the order of the transactions: ${ofData(fact)}.`,
      say.contradiction`After all of them: ${ofData(text)}.`,
    ],
  });
}
