import { type Finding, type History, judgedHistory, type Operation, type Oracle, say } from 'isolde-db';

/** In one snapshot the same query returns the same rows, until the transaction writes. */
export const repeatedRead: Oracle = {
  name: 'repeated-read',
  title: 'the same query twice in one snapshot',
  needs: { run: 'plain' },
  rounds: 2,
  refuses: ({ id, mechanism }) =>
    ['begin', 'first-statement', 'first-read'].includes(mechanism?.pivot ?? '')
      ? undefined
      : `${id} promises no snapshot`,
  judge: (history, _plan, { contract }) =>
    judgedHistory(history, {
      oracle: 'repeated-read',
      contract: contract.id,
      findings: changedAnswers(history).map(([first, again]) => findingOf(first, again, contract.id)),
    }),
};

/** Pairs of reads of one transaction, the same text with different rows, and no write of it between them. */
function changedAnswers({ operations }: History): [Operation, Operation][] {
  const seen = new Map<string, Operation>();
  const pairs: [Operation, Operation][] = [];
  for (const operation of operations) {
    const { transaction, kind, sql = '', rows } = operation;
    const key = `${transaction} ${sql}`;
    if (kind !== 'select')
      for (const known of seen.keys()) if (known.startsWith(`${transaction} `)) seen.delete(known);
    if (kind !== 'select' || rows === undefined || /\b(limit|for|random|now)\b/i.test(sql)) continue;
    const first = seen.get(key);
    if (first === undefined) seen.set(key, operation);
    else if (bagOf(first) !== bagOf(operation)) pairs.push([first, operation]);
  }
  return pairs;
}

const bagOf = ({ rows = [] }: Operation) => JSON.stringify(rows.map((row) => JSON.stringify(row)).sort());

function findingOf(first: Operation, again: Operation, contract: string): Finding {
  return {
    kind: 'wrong-result',
    oracle: 'repeated-read',
    certainty: 'proved',
    rulesOut: [],
    contract,
    clause: 'one snapshot',
    transactions: [
      {
        id: again.transaction,
        name: `T${again.transaction}`,
        session: String(again.session),
        status: 'unknown',
      },
    ],
    operations: [again, first].map(({ index, transaction, sql = '' }) => ({ index, transaction, text: sql })),
    explanation: [
      say.contradiction`The query returned other rows than before, though the transaction wrote nothing.`,
    ],
  };
}
