import { findingAbout, judgedHistory, type Operation, type Oracle, ofOperation, say } from 'isolde-db';

/** In one snapshot the same query returns the same rows, until the transaction does something else. */
export const repeatedRead: Oracle = {
  name: 'repeated-read',
  title: 'the same query twice in one snapshot',
  needs: { run: 'plain' },
  rounds: 2,
  refuses: ({ id, mechanism }) =>
    /^(begin|first-)/.test(mechanism?.pivot ?? '') ? undefined : `${id} promises no snapshot`,
  judge(history, _plan, { contract }) {
    const by = { oracle: 'repeated-read', contract: contract.id };
    const about = { ...by, kind: 'wrong-result', clause: 'one snapshot' } as const;
    const seen = new Map<string, Operation>();
    const others: Record<number, number> = {};
    const findings = history.operations.flatMap((read) => {
      const { transaction, kind, sql = '', rows } = read;
      if (kind !== 'select') others[transaction] = (others[transaction] ?? 0) + 1;
      if (kind !== 'select' || rows === undefined || /\b(limit|for|random|now)\b/i.test(sql)) return [];
      const key = `${transaction} ${others[transaction]} ${sql}`;
      const before = seen.get(key) ?? read;
      seen.set(key, before);
      const explanation = [say.contradiction`${ofOperation(read)} returned other rows than before.`];
      if (bagOf(before) === bagOf(read)) return [];
      return findingAbout(history, [read, before], { ...about, explanation });
    });
    return judgedHistory(history, { ...by, findings });
  },
};
const bagOf = ({ rows = [] }: Operation) => JSON.stringify(rows.map((row) => JSON.stringify(row)).sort());
