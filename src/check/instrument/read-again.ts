/**
 * Subqueries that read again, in the same statement, what a part of it reads, and name the rows as text. They serve
 * queries whose own rows cannot carry marks (DISTINCT, UNION, subqueries, CTEs) and the reads inside writes.
 *
 * A read repeated in the same statement is one more read of that transaction: whatever it sees, the transaction saw.
 * So a repetition can be too wide (it ignores LIMIT and HAVING) and is still evidence.
 */
import type {
  Expression,
  FromItem,
  SelectCore,
  SelectStatement,
  TableReference,
  WithClause,
} from '../../sql/index.js';
import type { Catalog } from './catalog.js';
import { isSteady } from './functions.js';
import { isClosed, widenedTable } from './hide-columns.js';
import { aggregateEntries, column, listColumn, ridColumn } from './marks.js';
import { leafName, leavesOf, operandsOf, subqueriesOf } from './tree.js';

/** A search that returns every row of one table for which a condition holds; no condition: the whole table. */
export interface Scan {
  readonly from: TableReference;
  readonly where?: Expression;
}

export interface Reread {
  /** All rows of one table, as one text of entries. */
  readonly expression: Expression;
  /** The search whose complete result they are. */
  readonly scan?: Scan;
}

export class Rereader {
  /** It was asked for rows, and the engine has nothing that makes one text of them. */
  lacksWords = false;

  constructor(
    private readonly catalog: Catalog,
    private readonly ctes: ReadonlySet<string>,
  ) {}

  /** What all parts of a query read, the subqueries in them included. */
  body(body: SelectStatement['body']): Reread[] {
    return operandsOf(body).flatMap((operand) => {
      if (operand.type === 'core') return this.#whole(operand);
      return operand.type === 'select' && operand.with === undefined ? this.body(operand.body) : [];
    });
  }

  /** What the tables of one SELECT contribute; not its subqueries. */
  core(core: SelectCore): Reread[] {
    return leavesOf(core.from).flatMap((leaf): Reread[] => {
      if (leaf.type === 'derived') return leaf.lateral === true ? [] : this.body(leaf.query.body);
      if (widenedTable(leaf, this.catalog, this.ctes) === undefined) return [];
      if (this.catalog.words.joinsTexts === false) {
        this.lacksWords = true;
        return [];
      }
      const name = leafName(leaf)!;
      const rows = aggregateEntries(column(ridColumn, name), column(listColumn, name), this.catalog.dialect);
      const { where } = core;
      const body: SelectCore = {
        type: 'core',
        distinct: false,
        items: [{ type: 'item', expression: rows }],
        from: core.from,
        ...(where === undefined ? {} : { where }),
        groupBy: [],
      };
      const scan = this.#scanOf(core);
      return [
        { expression: scalar({ type: 'select', body, orderBy: [], locks: [] }), ...(scan && { scan }) },
      ];
    });
  }

  /** Rows used by subqueries of expressions; `closedOnly`: only those that need no row of the query around them. */
  subqueries(expressions: unknown, closedOnly: boolean): Reread[] {
    return subqueriesOf(expressions).flatMap((query) => {
      if (query.with !== undefined) return [];
      return operandsOf(query.body).flatMap((operand) => {
        if (operand.type !== 'core' || (closedOnly && !isClosed(operand, this.catalog, this.ctes))) return [];
        return this.#whole(operand);
      });
    });
  }

  commonTables(clause: WithClause | undefined): Reread[] {
    if (clause === undefined || clause.recursive) return [];
    return clause.ctes.flatMap(({ statement }) =>
      statement.type === 'select' && statement.with === undefined ? this.body(statement.body) : [],
    );
  }

  #whole(core: SelectCore): Reread[] {
    const parts = [core.items, core.where, core.having, core.from.map(conditionsOf)];
    return [...this.core(core), ...this.subqueries(parts, true)];
  }

  #scanOf(core: SelectCore): Scan | undefined {
    const [from, ...others] = core.from;
    if (from?.type !== 'table' || others.length > 0 || from.hint !== undefined) return undefined;
    if (!isSteady(core.where) || !isClosed(core, this.catalog, this.ctes)) return undefined;
    return core.where === undefined ? { from } : { from, where: core.where };
  }
}

export const scalar = (query: SelectStatement): Expression => ({ type: 'subquery', query });

/** The ON conditions of a tree of joins. */
export const conditionsOf = (item: FromItem): unknown =>
  item.type === 'join' ? [item.on, conditionsOf(item.left), conditionsOf(item.right)] : undefined;
