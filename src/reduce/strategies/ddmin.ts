/**
 * Delta debugging (Zeller and Hildebrandt 2002), over operations in schedule order, blind to what depends on what.
 *
 * 1. Cut the operations into n pieces, n = 2 at first.
 * 2. If one piece alone shows the finding, go on with it, n = 2.
 * 3. Else if all but one piece show it, go on with that, n − 1.
 * 4. Else cut finer, n := 2n, until pieces are single operations.
 */
import type { Subset } from '../case-model.js';
import { without } from '../dependencies.js';
import { cut } from './one-by-one.js';
import type { Strategy } from './strategy.js';

export const ddmin: Strategy = {
  name: 'ddmin',
  granularity: 'operations',
  async reduce({ model, trials, checkStart }) {
    await checkStart();
    let current: Subset = model.operations.map((_, id) => id);
    let pieceCount = 2;
    while (current.length >= 2) {
      const base = current;
      const pieces = cut(base, pieceCount);
      // With two pieces, one alone is the other's complement.
      const complements = pieceCount > 2 ? pieces.length : 0;
      const found = await trials.first(pieces.length + complements, (i) =>
        i < pieces.length ? pieces[i]! : without(base, pieces[i - pieces.length]!),
      );
      if (found >= pieces.length) {
        current = without(base, pieces[found - pieces.length]!);
        pieceCount = Math.max(pieceCount - 1, 2);
      } else if (found >= 0) {
        current = pieces[found]!;
        pieceCount = 2;
      } else if (pieceCount < base.length) {
        pieceCount = Math.min(pieceCount * 2, base.length);
      } else break;
    }
    if (current.length === 1 && (await trials.test([]))) return [];
    return current;
  },
};
