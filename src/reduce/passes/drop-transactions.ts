/** Drops whole transactions, the last first. */
import { modelOf, restrictTo } from '../case-model.js';
import { without } from '../dependencies.js';
import type { Pass } from './pass.js';

export const dropTransactions: Pass = {
  name: 'drop transactions',
  proposals(current) {
    const model = modelOf(current);
    const all = model.operations.map((_, id) => id);
    return model.transactions
      .filter(({ operations }) => operations.length > 1)
      .map(
        ({ operations }) =>
          () =>
            restrictTo(model, without(all, operations)),
      )
      .toReversed();
  },
};
