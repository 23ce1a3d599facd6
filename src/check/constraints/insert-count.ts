/** An acknowledged `INSERT … VALUES` of n rows wrote n rows, and the count it reports says so. */
import type { Operation } from '../../histories/index.js';
import { parseStatement } from '../../sql/index.js';
import { ofOperation, ofTransaction, say } from '../explanation.js';
import type { Finding } from '../finding.js';
import type { RunFacts } from './run-facts.js';

export function judgeInsertCount(facts: RunFacts, operation: Operation): Finding[] {
  const { kind, outcome, sql, matched, changed, rows } = operation;
  if (kind !== 'insert' || outcome !== 'ok' || sql === undefined) return [];
  const reported = changed ?? matched ?? rows?.length;
  if (reported === undefined) return [];
  const { catalog, declared } = facts;
  const statement = parseStatement(sql, catalog.dialect);
  if (statement.type !== 'insert' || statement.source.type !== 'values') return [];
  const { mode, conflict, source, with: common, table: to } = statement;
  const table = catalog.find(to.name);
  if (mode !== undefined || conflict !== undefined || common !== undefined) return [];
  if (table === undefined || !declared.plain.has(table) || reported === source.rows.length) return [];
  return [
    facts.finding(
      'short-insert',
      'always',
      [operation],
      [
        say.rule`An INSERT that succeeds has written every row of its VALUES: ${source.rows.length}.`,
        say.contradiction`${ofTransaction(operation.transaction)} ran ${ofOperation(operation)}, and it reports ${reported}.`,
      ],
    ),
  ];
}
