/**
 * From SQL text to a plan (`plan-types.ts`), with the parser and evaluator of `sql`. A SELECT over one table that keeps
 * its rows apart becomes a scan; any other query that can be evaluated is run on whole tables; what cannot be evaluated
 * is opaque, and says so.
 */
import { parseStatement } from '../../sql/index.js';
import { type Catalog, known, opaqueWrite } from './plan-parts.js';
import { planSelect } from './plan-select.js';
import type { Plan } from './plan-types.js';
import { planChange, planInsert } from './plan-write.js';

const harmless =
  /^\s*(show|explain(?!\b.*\banalyze\b)|describe|desc|analyze|checkpoint|vacuum|use|lock|unlock|listen|notify|check|optimize|reindex)\b/i;

/** What a statement does. */
export function planStatement(sql: string, catalog: Catalog): Plan {
  const statement = parseStatement(sql, catalog.dialect);
  switch (statement.type) {
    case 'select':
      return planSelect(statement, catalog);
    case 'update':
    case 'delete':
      return planChange(statement, catalog);
    case 'insert':
      return planInsert(statement, catalog);
    case 'merge':
      return opaqueWrite(statement, catalog, 'MERGE');
    case 'begin':
    case 'commit':
    case 'rollback':
    case 'savepoint':
    case 'release':
    case 'rollback-to':
    case 'create-index':
      return { type: 'idle' };
    case 'create-table':
    case 'drop': {
      const names = statement.type === 'drop' ? statement.names.map(({ name }) => name) : [statement.name];
      return {
        type: 'opaque',
        writes: true,
        tables: known(names, catalog),
        reason: 'a change of the schema',
        keys: undefined,
      };
    }
    case 'opaque': {
      if (statement.kind === 'set' || (statement.kind === 'other' && harmless.test(sql)))
        return { type: 'idle' };
      const writes = statement.kind !== 'select';
      const unknown = statement.kind === 'other' || /\btrigger\b/i.test(sql);
      const tables = unknown ? undefined : known(statement.tables, catalog);
      return { type: 'opaque', writes, tables, reason: statement.reason, keys: undefined };
    }
    default:
      return statement satisfies never;
  }
}
