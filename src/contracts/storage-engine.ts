/**
 * Servers of MySQL's family keep each table in a storage engine, and what is promised is the engine's promise, not the
 * server's: InnoDB and MyRocks differ in when a snapshot is taken and in what a writer of a changed row meets; Aria, MyISAM and
 * MEMORY have no transactions at all. A table is kept in the engine its CREATE TABLE names, else in the session's default one.
 */
import type { Contract } from './contract.js';
import type { Level } from './level.js';
import { contractFor, engineSetting, reportedContract, usualEngine } from './table.js';

/** What tables of these engines are held to, or why they are held to nothing. */
export type TablesContract = { readonly contract: Contract } | { readonly unjudged: string };

/** The contract for the tables that a set-up creates: the one given, if it is their engine's, else that engine's own. */
export function contractForTables(
  contract: Contract,
  setup: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): TablesContract {
  const { owner, level, kind } = contract;
  if (kind !== 'vendor' || level === undefined || !['mariadb', 'mysql'].includes(owner)) return { contract };
  const engines = enginesOf(setup, settings[engineSetting] ?? usualEngine);
  if (engines.length === 0) return { contract };
  if (engines.length > 1)
    return {
      unjudged: `tables of several storage engines (${engines.join(', ')}) have no contract in common`,
    };
  const engine = engines[0]!;
  if (engine === (contract.settings?.[engineSetting] ?? usualEngine).toLowerCase()) return { contract };
  const own = contractFor(owner, level, { ...settings, [engineSetting]: engine });
  if (own === undefined)
    return {
      unjudged: `no contract says what ${owner} promises at ${level} for tables of ${engine}${lacking(engine)}`,
    };
  return { contract: contract.extends === undefined ? own : (reportedContract(own) ?? own) };
}

/** Which promise is missing where nothing is known of a database at a level: that of its tables' engine, if they are not the usual one's. */
export function noContractFor(
  owner: string,
  level: Level,
  settings: Readonly<Record<string, string>> = {},
): string {
  const engine = settings[engineSetting] ?? usualEngine;
  if (engine.toLowerCase() === usualEngine.toLowerCase())
    return `no contract is known for ${owner} at ${level}`;
  return `no contract says what ${owner} promises at ${level} for tables of ${engine}${lacking(engine)}`;
}

/** Engines without transactions, of which no contract is written (`docs/decisions/tables-without-transactions.md`). */
const withoutTransactions = new Set(['aria', 'myisam', 'memory', 'csv', 'archive', 'mrg_myisam']);

function lacking(engine: string): string {
  return withoutTransactions.has(engine.toLowerCase())
    ? ': they have no transactions, and a statement that fails leaves a part of itself behind'
    : '';
}

/** The engines of the tables that statements create, in small letters. */
export function enginesOf(setup: readonly string[], usual: string): readonly string[] {
  const engines = new Set<string>();
  for (const sql of setup) {
    const named = /^\s*(create\s[^(]*?table|alter\s+table)\b/i.exec(sql)?.[1];
    if (named === undefined) continue;
    const engine = engineOption(sql);
    if (engine !== undefined) engines.add(engine.toLowerCase());
    else if (/^create/i.test(named)) engines.add(usual.toLowerCase());
  }
  return [...engines];
}

/** The option ENGINE, which stands outside the parentheses of the columns and outside quotes. */
function engineOption(sql: string): string | undefined {
  const bare = sql.replace(/'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`/g, (quoted) =>
    /^.\w*.$/.test(quoted) ? quoted.slice(1, -1) : '',
  );
  let depth = 0;
  let outside = '';
  for (const character of bare) {
    if (character === '(') depth++;
    if (depth === 0) outside += character;
    if (character === ')') depth = Math.max(0, depth - 1);
  }
  return /\bengine\s*=?\s*(\w+)/i.exec(outside)?.[1];
}
