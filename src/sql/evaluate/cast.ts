/** CAST, where the result is certain. */
import type { CastExpression } from '../ast.js';
import type { Dialect } from '../dialect.js';
import type { Value } from '../value.js';
import { coerce } from './coerce.js';
import type { Compiled } from './scope.js';
import { sqlType } from './types.js';
import { isUndecidable, NotDecidable, undecidable } from './undecidable.js';

const tooLong = undecidable('a number longer than its text type');

export function compileCast(operand: Compiled, cast: CastExpression, dialect: Dialect): Compiled {
  if (cast.attempt === true) throw new NotDecidable('TRY_CAST');
  const sqliteNumeric = dialect === 'sqlite' && !/^(INTEGER|INT|REAL|TEXT)$/.test(cast.to);
  const type = sqlType(cast.to, dialect);
  if (type.family === 'unknown' || sqliteNumeric) throw new NotDecidable(`a cast to ${cast.to}`);
  const convert = (value: Value) => {
    if (
      type.family === 'text' &&
      typeof value === 'number' &&
      Number.isInteger(value) &&
      operand.type.family === 'int'
    ) {
      // Longer digits are cut off or refused.
      return String(value).length > (type.length ?? Number.POSITIVE_INFINITY) ? tooLong : String(value);
    }
    if (dialect === 'postgres' && type.family === 'int' && typeof value === 'boolean') return Number(value);
    return coerce(value, operand.type, type, dialect);
  };
  return {
    type,
    run: (env) => {
      const value = operand.run(env);
      return value === null || isUndecidable(value) ? value : convert(value);
    },
  };
}
