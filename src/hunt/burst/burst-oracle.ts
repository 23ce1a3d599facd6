/**
 * The oracle of a burst: one for each program, which asks for the program's closing queries and holds the history to its fact. It is made
 * for its program and stands in no registry; what judges every run (deaths of the server, declared keys) judges bursts, too.
 */
import {
  type Finding,
  findingAbout,
  type JudgedHistory,
  judgedHistory,
  type Oracle,
  ofData,
  say,
} from '../../check/index.js';
import type { Contract } from '../../contracts/index.js';
import { describeKind } from '../../contracts/index.js';
import type { History } from '../../histories/index.js';
import type { BurstOutcome, BurstProgram } from './burst-program.js';

const name = 'burst';

export function burstOracle(program: BurstProgram): Oracle<undefined> {
  return {
    name,
    title: program.fact,
    needs: { run: 'extra-reads' },
    refuses: (contract) =>
      program.clause(contract) === undefined ? 'it does not demand the fact' : undefined,
    prepare: (given) => ({ program: given, observe: program.final, plan: undefined }),
    judge(history, _plan, { contract }) {
      const closing = history.operations.slice(-program.final.length);
      const isRead = closing.every(({ kind, outcome }) => kind === 'select' && outcome === 'ok');
      const final = isRead ? closing.map(({ rows = [] }) => rows) : undefined;
      const { kind, text } = program.judge({ history, final });
      return judgedHistory(history, {
        oracle: name,
        contract: contract.id,
        findings: kind === 'broken' ? [brokenFact(program, text, history, contract)] : [],
        unknownReasons: kind === 'unknown' ? [text] : [],
        notes: [text],
      });
    },
  };
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
  { fact, clause }: BurstProgram,
  text: string,
  history: History,
  contract: Contract,
): Finding {
  return findingAbout(history, [history.operations.at(-1)!], {
    kind: 'broken-fact',
    oracle: name,
    contract: contract.id,
    clause: clause(contract) ?? '',
    explanation: [
      say.rule`Whatever the order of the transactions: ${ofData(fact)}.`,
      say.contradiction`After all of them: ${ofData(text)}.`,
    ],
  });
}
