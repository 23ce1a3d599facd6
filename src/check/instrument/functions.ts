/**
 * What is known of functions by name. Adding a column to a query is safe only if we know which calls aggregate, and a
 * predicate may be asked again after the run only if its calls always answer the same. A function on neither list is
 * unknown, and then the query is left as it is.
 */
import type { CallExpression } from '../../sql/index.js';
import { walk } from './tree.js';

const names = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));

const aggregates = names(
  `count sum avg min max total group_concat string_agg array_agg list bool_and bool_or every bit_and bit_or bit_xor
  std stddev stddev_pop stddev_samp variance var_pop var_samp any_value median mode first last arg_min arg_max
  json_group_array json_group_object json_agg jsonb_agg json_arrayagg json_objectagg`,
);

const steady = names(
  `abs ceil ceiling floor round sign sqrt power pow mod exp ln coalesce ifnull nullif lower upper length char_length
  character_length octet_length substr substring trim ltrim rtrim replace left right concat concat_ws reverse repeat
  greatest least instr strpos lpad rpad hex if iif typeof isnull`,
);

export interface CallKinds {
  readonly aggregate: boolean;
  readonly window: boolean;
  readonly unknown: boolean;
}

/** SQLite's min and max of several values are scalar. */
const isScalarMinMax = ({ name, args }: CallExpression): boolean =>
  /^(min|max)$/i.test(name) && args.length > 1;

/** One value for many rows. */
export function isAggregate(call: CallExpression): boolean {
  return call.over === undefined && aggregates.has(call.name.toLowerCase()) && !isScalarMinMax(call);
}

/** A function of its arguments alone. */
export function isSteadyCall(name: string): boolean {
  return steady.has(name.toLowerCase());
}

/** The kinds of calls in an expression tree, subqueries left out: they have rows of their own. */
export function callKinds(tree: unknown): CallKinds {
  let aggregate = false;
  let window = false;
  let unknown = false;
  walk(tree, (node) => {
    if (node.type === 'select') return false;
    if (node.type === 'raw' || node.type === 'parameter') unknown = true;
    if (node.type !== 'call') return undefined;
    const call = node as unknown as CallExpression;
    const name = call.name.toLowerCase();
    if (call.over !== undefined) window = true;
    else if (isAggregate(call)) aggregate = true;
    else if (!steady.has(name) && call.bare !== true && !isScalarMinMax(call)) unknown = true;
    return undefined;
  });
  return { aggregate, window, unknown };
}

/** Whether a condition gives the same answer for the same row whenever it is asked, and looks at nothing else. */
export function isSteady(condition: unknown): boolean {
  let ok = true;
  walk(condition, (node) => {
    if (node.type === 'select' || node.type === 'raw' || node.type === 'parameter') ok = false;
    if (node.type === 'call') {
      const call = node as unknown as CallExpression;
      if (!steady.has(call.name.toLowerCase()) || call.over !== undefined) ok = false;
    }
    return ok;
  });
  return ok;
}

const orderless = names('count sum min max');

/** Whether an expression, its subqueries included, gives the same answer whenever it is asked in the same state. */
export function isRepeatable(tree: unknown): boolean {
  let ok = true;
  walk(tree, (node) => {
    if (node.type === 'raw' || node.type === 'parameter') ok = false;
    // Which rows LIMIT and DISTINCT ON keep may depend on the plan.
    if (node.limit !== undefined || node.offset !== undefined || node.distinctOn !== undefined) ok = false;
    if (node.type === 'call') {
      const call = node as unknown as CallExpression;
      const name = call.name.toLowerCase();
      if ((!steady.has(name) && !orderless.has(name)) || call.over !== undefined) ok = false;
    }
    return ok;
  });
  return ok;
}
