/**
 * Makes a statement mean on widened tables what it meant on the original ones: the two added columns must not slip in
 * through `*`, NATURAL JOIN or a reference to a whole row.
 *
 * `*` becomes the list of the original columns. NATURAL JOIN becomes USING with the columns both sides have. A
 * derived table, a CTE or a table of unknown columns keeps its `*`: nothing was added there. What cannot be rewritten
 * throws `Unsupported`, and the tables concerned are not widened.
 */

import type {
  Dialect,
  Expression,
  FromItem,
  Join,
  SelectCore,
  SelectItem,
  SelectStatement,
  Statement,
} from '../../sql/index.js';
import { nameKey } from '../../sql/index.js';
import { type Catalog, type CatalogTable, findTable } from './catalog.js';
import { column } from './marks.js';
import { columnsIn, type Leaf, leafName, leavesOf, subqueriesOf, walk } from './tree.js';

/** A statement that cannot be instrumented without changing what it means. */
export class Unsupported extends Error {}

/** Names of CTEs in scope: they hide tables. */
type Scope = ReadonlySet<string>;

export function hideColumns<T extends Statement>(statement: T, catalog: Catalog): T {
  const hidden = new Hider(catalog).statement(statement, new Set());
  return hidden as T;
}

/** The widened table a FROM leaf is, if it is one. */
export function widenedTable(leaf: FromItem, catalog: Catalog, ctes: Scope): CatalogTable | undefined {
  if (leaf.type !== 'table' || ctes.has(nameKey(leaf.name, catalog.dialect))) return undefined;
  return findTable(catalog, leaf.name);
}

/** The CTEs of a query, by name. */
export function cteNames(query: { readonly with?: SelectStatement['with'] }, dialect: Dialect): string[] {
  return (query.with?.ctes ?? []).map(({ name }) => nameKey(name, dialect));
}

class Hider {
  constructor(private readonly catalog: Catalog) {}

  statement(node: unknown, outer: Scope): unknown {
    const statement = node as Statement & { with?: SelectStatement['with'] };
    const scope = new Set([...outer, ...cteNames(statement, this.catalog.dialect)]);
    const mapped = this.#children(statement, scope) as Statement;
    switch (mapped.type) {
      case 'insert':
      case 'merge':
        if (mapped.returning === undefined) return mapped;
        return { ...mapped, returning: this.#items(mapped.returning, [mapped.table], scope) };
      case 'update':
      case 'delete': {
        if (mapped.returning === undefined) return mapped;
        const more = mapped.type === 'update' ? mapped.from : mapped.using;
        return { ...mapped, returning: this.#items(mapped.returning, [mapped.table, ...more], scope) };
      }
      default:
        return mapped;
    }
  }

  #node(node: unknown, scope: Scope): unknown {
    if (Array.isArray(node)) return node.map((item) => this.#node(item, scope));
    if (typeof node !== 'object' || node === null) return node;
    const { type } = node as { type?: unknown };
    if (type === 'select' || type === 'insert' || type === 'update' || type === 'delete') {
      return this.statement(node, scope);
    }
    const mapped = this.#children(node, scope);
    if (type === 'core') return this.#core(mapped as unknown as SelectCore, scope);
    if (type === 'join') return this.#join(mapped as unknown as Join, scope);
    return mapped;
  }

  #children(node: object, scope: Scope): object {
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, this.#node(value, scope)]));
  }

  #core(core: SelectCore, scope: Scope): SelectCore {
    const { catalog } = this;
    if (!leavesOf(core.from).some((leaf) => widenedTable(leaf, catalog, scope))) return core;
    this.#refuseWholeRows(core, scope);
    return { ...core, items: this.#items(core.items, core.from, scope) };
  }

  #items(items: readonly SelectItem[], from: readonly FromItem[], scope: Scope): SelectItem[] {
    return items.flatMap((item): SelectItem[] => {
      if (item.type !== 'star') return [item];
      if (item.table !== undefined) {
        const { dialect } = this.catalog;
        const leaf = leavesOf(from).find(
          (each) => nameKey(leafName(each) ?? '', dialect) === nameKey(item.table!, dialect),
        );
        return leaf === undefined ? [item] : this.#leafItems(leaf, scope);
      }
      if (!leavesOf(from).some((leaf) => widenedTable(leaf, this.catalog, scope))) return [item];
      return from.flatMap((each) => this.#fromItems(each, scope));
    });
  }

  /** What `*` means for one element of FROM, in the order SQL defines: merged columns first. */
  #fromItems(item: FromItem, scope: Scope): SelectItem[] {
    if (item.type !== 'join') return this.#leafItems(item, scope);
    const left = this.#fromItems(item.left, scope);
    const right = this.#fromItems(item.right, scope);
    if (item.using === undefined) return [...left, ...right];
    const merged = new Set(item.using.map((name) => nameKey(name, this.catalog.dialect)));
    const rest = [...left, ...right].filter((each) => {
      if (each.type === 'star') throw new Unsupported('* over JOIN … USING with a table of unknown columns');
      return !merged.has(nameKey(itemName(each) ?? '', this.catalog.dialect));
    });
    return [...item.using.map((name): SelectItem => ({ type: 'item', expression: column(name) })), ...rest];
  }

  #leafItems(leaf: Leaf, scope: Scope): SelectItem[] {
    const table = widenedTable(leaf, this.catalog, scope);
    const qualifier = leafName(leaf);
    if (table !== undefined) {
      if (leaf.type === 'table' && leaf.columns !== undefined)
        throw new Unsupported('columns renamed in FROM');
      return table.columns.map((name) => ({ type: 'item', expression: column(name, qualifier!) }));
    }
    if (qualifier === undefined) throw new Unsupported('* over a derived table without a name');
    return [{ type: 'star', table: qualifier }];
  }

  #join(join: Join, scope: Scope): Join {
    if (join.natural !== true) return join;
    const leaves = leavesOf([join]);
    if (!leaves.some((leaf) => widenedTable(leaf, this.catalog, scope))) return join;
    const names = (item: FromItem): string[] =>
      this.#fromItems(item, scope).map((each) => {
        const name = itemName(each);
        if (name === undefined) throw new Unsupported('NATURAL JOIN with a table of unknown columns');
        return name;
      });
    const right = new Set(names(join.right).map((name) => nameKey(name, this.catalog.dialect)));
    const using = names(join.left).filter((name) => right.has(nameKey(name, this.catalog.dialect)));
    const { natural: _, ...rest } = join;
    // Without a common column a natural join is a cross join.
    if (using.length > 0) return { ...rest, using };
    if (join.kind === 'inner') return { ...rest, kind: 'cross' };
    throw new Unsupported('an outer NATURAL JOIN without common columns');
  }

  /** `SELECT t FROM t` returns whole rows in PostgreSQL and DuckDB. */
  #refuseWholeRows(core: SelectCore, scope: Scope): void {
    const { dialect } = this.catalog;
    if (dialect !== 'postgres' && dialect !== 'duckdb') return;
    const leaves = leavesOf(core.from);
    const known = new Set<string>();
    for (const leaf of leaves) {
      for (const name of widenedTable(leaf, this.catalog, scope)?.columns ?? [])
        known.add(nameKey(name, dialect));
    }
    const rows = new Set(leaves.map((leaf) => nameKey(leafName(leaf) ?? '', dialect)));
    walk([core.items, core.where, core.groupBy, core.having], (node) => {
      if (node.type !== 'column') return;
      const { table, name } = node as unknown as { table?: string; name: string };
      const key = nameKey(name, dialect);
      if (table === undefined && rows.has(key) && !known.has(key))
        throw new Unsupported(`${name} is a whole row`);
    });
  }
}

/** The name an item has as a column, where that does not depend on the dialect. */
export function itemName(item: SelectItem): string | undefined {
  if (item.type === 'star') return undefined;
  return item.alias ?? (item.expression.type === 'column' ? item.expression.name : undefined);
}

/** Whether a subquery stands for itself: every column in it is one of its own tables'. */
export function isClosed(core: SelectCore, catalog: Catalog, ctes: Scope): boolean {
  const { dialect } = catalog;
  const leaves = leavesOf(core.from);
  if (subqueriesOf(core.where).length > 0) return false;
  const names = new Set(leaves.map((leaf) => nameKey(leafName(leaf) ?? '', dialect)));
  const columns = new Set<string>();
  for (const leaf of leaves) {
    const table = widenedTable(leaf, catalog, ctes);
    if (table === undefined) return false;
    for (const name of table.columns) columns.add(nameKey(name, dialect));
  }
  const parts: readonly (Expression | undefined)[] = [core.where, ...onConditions(core.from)];
  return columnsIn(parts).every(({ table, name }) =>
    table === undefined ? columns.has(nameKey(name, dialect)) : names.has(nameKey(table, dialect)),
  );
}

function onConditions(from: readonly FromItem[]): (Expression | undefined)[] {
  return from.flatMap((item) =>
    item.type === 'join' ? [item.on, ...onConditions([item.left, item.right])] : [],
  );
}
