/**
 * Moves rows that the program inserts into the set-up: in a long run a row was put there by somebody, but a short case can
 * start with it. Whether it matters that, and when, a transaction inserted it is for the trial to say.
 */
import { parseStatement } from '../../sql/index.js';
import { allOperations, modelOf, restrictTo } from '../case-model.js';
import { without } from '../dependencies.js';
import { type Pass, withSetup } from './pass.js';

export const insertFirst: Pass = {
  name: 'insert first',
  proposals(current, { dialect }) {
    const model = modelOf(current);
    const all = allOperations(model);
    return model.operations.flatMap(({ kind, sql }, id) => {
      if (kind !== 'insert') return [];
      const statement = parseStatement(sql, dialect);
      if (statement.type !== 'insert' || statement.source.type !== 'values') return [];
      return [() => withSetup(restrictTo(model, without(all, [id])), [...current.case.setup, sql])];
    });
  },
};
