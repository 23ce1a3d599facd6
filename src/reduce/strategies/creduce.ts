/**
 * C-Reduce as Pisco's authors adapt it (§7.1, technical report §B.2): rules that know the domain's structure. One rule
 * removes a thread, the other a transaction; each is tried on every instance, one at a time, until neither applies.
 * Operations that share a transaction with one that is needed stay.
 */
import type { Subset } from '../case-model.js';
import { removeOneByOne } from './one-by-one.js';
import type { Strategy } from './strategy.js';

export const creduce: Strategy = {
  name: 'creduce',
  granularity: 'transactions',
  async reduce({ model, trials, checkStart }) {
    await checkStart();
    const transactions = model.transactions.map(({ operations }) => operations);
    const threads: Subset[] = model.candidate.case.sessions.map((_, s) =>
      model.transactions
        .filter(({ session }) => session === s)
        .flatMap(({ operations }) => operations)
        .sort((a, b) => a - b),
    );
    const all = model.operations.map((_, id) => id);
    const afterThreads = await removeOneByOne(all, threads, trials);
    return removeOneByOne(afterThreads, transactions, trials);
  },
};
