/** The checkers of workloads as an oracle: recorded histories whose operations are more than reads and writes of keys. */
import { IsoldeError } from '../../errors.js';
import { type KvHistory, type PlainOperation, plainKey } from '../../histories/index.js';
import { describeTransactions } from '../explain.js';
import { ofTransaction, say } from '../explanation.js';
import type { Finding, FindingTransaction } from '../finding.js';
import { describeOps, describeTx } from '../kv/kv-findings.js';
import { type Oracle, verdictOf } from '../oracle.js';
import { recognizeWorkload, workloads } from './registry.js';
import { type Workload, type WorkloadFinding, workloadNames } from './workload.js';

export const workloadOracle: Oracle = {
  name: 'workload',
  title: 'what the operations of known workloads must keep: sums, elements, orders, linearizability',
  needs: { run: 'none' },
  refuses: () => 'it judges recorded histories of known workloads, not runs',
  check(recorded, _demand, { workload: asked }) {
    if (recorded.kind !== 'kv') {
      if (asked === undefined) return undefined;
      throw new IsoldeError(
        'usage',
        'workloads are checked in histories of Jepsen; this one holds SQL statements',
      );
    }
    const { history: transactions, operations = [] } = recorded;
    const workload = asked === undefined ? recognized(transactions, operations) : workloadOf(asked.name);
    if (workload === undefined) return undefined;
    const judged = operations.filter(({ f }) => workload.functions.includes(f));
    const { findings, unknownReasons, notes } = workload.check(
      { operations: judged, transactions },
      asked ?? {},
    );
    const reasons = [...skippedReasons(workload, transactions, operations), ...unknownReasons];
    const found = findings.map((finding) => findingOf(workload, finding, { judged, transactions }));
    return {
      valid: verdictOf(found, reasons),
      oracle: 'workload',
      findings: found,
      beyond: [],
      strongest: [],
      unknownReasons: reasons,
      skipped: [],
      notes: [`judged as the workload ${workload.name}: ${workload.title}`, ...notes],
    };
  },
};

/** A file that holds transactions too is no workload unless somebody says so. */
function recognized(transactions: KvHistory, operations: readonly PlainOperation[]): Workload | undefined {
  return transactions.txCount > 0 || operations.length === 0 ? undefined : recognizeWorkload(operations);
}

/** A workload from its name on the command line. */
export function workloadOf(text: string): Workload {
  const found = workloads.find(({ name }) => name === text.toLowerCase());
  if (found !== undefined) return found;
  throw new IsoldeError('usage', `there is no workload "${text}"; there are ${workloadNames.join(', ')}`);
}

/** What the workload does not speak of. */
function skippedReasons(
  workload: Workload,
  transactions: KvHistory,
  operations: readonly PlainOperation[],
): string[] {
  const reasons: string[] = [];
  const others = new Map<string, number>();
  for (const { f } of operations) {
    if (workload.ofTransactions === true || !workload.functions.includes(f))
      others.set(f, (others.get(f) ?? 0) + 1);
  }
  if (others.size > 0) {
    const listed = [...others].map(([f, count]) => `${count} ${f}`).join(', ');
    reasons.push(`operations that are not of the workload ${workload.name} were skipped: ${listed}`);
  }
  if (workload.ofTransactions !== true && transactions.txCount > 0) {
    reasons.push(`${transactions.txCount} transactions of reads and writes were skipped`);
  }
  return reasons;
}

interface Judged {
  readonly judged: readonly PlainOperation[];
  readonly transactions: KvHistory;
}

function findingOf(
  workload: Workload,
  { kind, witnesses, rulesOut, because }: WorkloadFinding,
  { judged, transactions: history }: Judged,
): Finding {
  const shown = [...new Set(witnesses)].slice(0, 20);
  const ofTransactions = workload.ofTransactions === true;
  const transactions = shown.map((at) =>
    ofTransactions ? describeTx(history, at) : describe(judged[at]!, at),
  );
  const operations = shown.flatMap((at) =>
    ofTransactions ? describeOps(history, at) : [{ index: at, transaction: at, text: textOf(judged[at]!) }],
  );
  return {
    kind,
    oracle: 'workload',
    certainty: 'proved',
    rulesOut,
    transactions,
    operations,
    explanation: [
      ...describeTransactions(transactions, operations),
      say.contradiction`${ofTransaction(transactions[0]!.id)}: ${because}`,
    ],
  };
}

function describe({ label, process, status }: PlainOperation, at: number): FindingTransaction {
  return {
    id: at,
    name: `op ${label}`,
    session: process === undefined ? '' : String(process),
    status: status === 'ok' ? 'committed' : status === 'fail' ? 'aborted' : 'unknown',
  };
}

function textOf({ f, value }: PlainOperation): string {
  const text = plainKey(value);
  return value === null && f !== 'read' ? f : `${f} ${text.length > 200 ? `${text.slice(0, 197)}...` : text}`;
}
