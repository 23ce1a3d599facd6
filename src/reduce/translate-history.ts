/**
 * A history made fit to run on a target, most of all on another engine than it comes from: what the recorded engine did by itself, the other one is asked for.
 *
 * 1. Dialect: statements are parsed in the recorded dialect and printed in the target's. What cannot be parsed stays.
 * 2. Definitions: words behind a key that only the recorded engine knows (TiDB's CLUSTERED and NONCLUSTERED) go.
 * 3. Snapshot: if the history's contract fixes a transaction's snapshot with its BEGIN and the target's fixes it later, BEGIN
 *    becomes the target's BEGIN that takes one at once (`features.snapshotBegin`). Reads then see the state that they saw
 *    in the history, under the history's own contract.
 *
 * 4. Row names: a trace that tells accesses instead of answers gets reads that return the rows' names (`row-names.ts`), on
 *    its own engine too.
 *
 * What cannot be brought about is noted, for it may be why a finding does not come back. Whether it does is for trials to
 * say: a translation that misses something costs a finding, it never makes one up, because replays are checked afresh.
 */
import { type Contract, contractFor, contractsOf } from '../contracts/index.js';
import type { History, HistoryHeader, Operation } from '../histories/index.js';
import { vendorContractAt } from '../judge/index.js';
import { catalogOf } from '../rows/index.js';
import { type CreateTableStatement, type Dialect, parseStatement, printStatement } from '../sql/index.js';
import type { Target } from '../targets/index.js';
import { namingColumn, withRowNames } from './row-names.js';

export interface TranslatedHistory {
  readonly history: History;
  /** What was changed and what could not be, one sentence each; empty if the history is the target's own. */
  readonly notes: readonly string[];
}

/** Words behind a key that no other engine takes, by the name of the engine that does. */
const keyWords: Readonly<Record<string, RegExp>> = { tidb: /\s*\b(?:NON)?CLUSTERED\b/gi };

/** The engine a history comes from: its stamp says so, or else the contract it is held to. */
export function engineOf({ target }: HistoryHeader, contract?: Contract): string | undefined {
  return target?.name ?? (contract?.kind === 'vendor' ? contract.owner : undefined);
}

/** What the target's vendor promises at the level of a history. */
export function contractOf({ header }: History, target: Target): Contract {
  return vendorContractAt(target, header.level ?? target.defaultLevel);
}

/** What the history's own engine promises at its level; the target's promise where the history does not name another engine. */
export function historyContract(history: History, target: Target): Contract {
  const engine = engineOf(history.header);
  if (engine === undefined || engine === target.name) return contractOf(history, target);
  const level = history.header.level ?? target.defaultLevel;
  const own =
    contractFor(engine, level, history.header.target?.settings) ??
    contractsOf(engine).find((each) => each.level === level && each.extends === undefined);
  return own ?? contractOf(history, target);
}

/** `contract`: what the history is held to. */
export function translateHistory(history: History, contract: Contract, target: Target): TranslatedHistory {
  const engine = engineOf(history.header, contract);
  const named = withNamedRows(history, target.dialect);
  if (engine === undefined || engine === target.name) return named;
  const notes = [...named.notes];
  const from = history.header.dialect ?? target.dialect;
  const begin = beginOf(history, contract, target, notes);
  const statement = statementTranslator(engine, from, target.dialect);
  const operations = named.history.operations.map((operation): Operation => {
    const { kind, sql } = operation;
    if (kind === 'begin' && begin !== undefined && isPlainBegin(sql)) return { ...operation, sql: begin };
    if (sql === undefined || from === target.dialect) return operation;
    return { ...operation, sql: statement(sql) };
  });
  const setup = history.header.setup?.map(statement);
  if (from !== target.dialect) notes.push(`statements of ${from} are printed for ${target.dialect}`);
  if (from === target.dialect && setup?.some((sql, i) => sql !== history.header.setup![i]) === true)
    notes.push(`the set-up is given without what only ${engine} knows`);
  return {
    history: {
      header: { ...history.header, dialect: target.dialect, ...(setup !== undefined && { setup }) },
      operations,
    },
    notes,
  };
}

function withNamedRows(history: History, fallback: Dialect): TranslatedHistory {
  const { header, operations } = history;
  if (!operations.some(namesRowsOnly)) return { history, notes: [] };
  const dialect = header.dialect ?? fallback;
  const catalog = catalogOf({ header: { ...header, dialect }, operations });
  const names = catalog.tables.map(namingColumn).filter((name) => name !== undefined);
  const known = new Map<string, string>();
  let changed = false;
  const renamed = operations.map((operation): Operation => {
    const { sql } = operation;
    if (sql === undefined || !namesRowsOnly(operation)) return operation;
    const longer = known.get(sql) ?? withRowNames(sql, catalog);
    known.set(sql, longer);
    if (longer === sql) return operation;
    changed = true;
    return { ...operation, sql: longer };
  });
  if (!changed) return { history, notes: [] };
  const columns = [...new Set(names)].join(', ');
  return {
    history: { header, operations: renamed },
    notes: [`reads also return ${columns}, by which the trace names rows`],
  };
}

/** A read of which the trace tells the rows, but not what it returned. */
function namesRowsOnly({ kind, accesses, rows }: Operation): boolean {
  return kind === 'select' && accesses !== undefined && rows === undefined;
}

/** What a plain BEGIN becomes; undefined: it stays. */
function beginOf(history: History, contract: Contract, target: Target, notes: string[]): string | undefined {
  const level = target.levels.find((each) => each.level === (history.header.level ?? target.defaultLevel));
  if (level?.plainBeginDiffers === true) {
    notes.push(`BEGIN becomes ${level.begin}: a plain one is another thing in ${target.name}`);
    return level.begin;
  }
  const wanted = contract.mechanism?.pivot;
  const has = contractOf(history, target).mechanism?.pivot;
  if (wanted === undefined || has === undefined || wanted === has) return undefined;
  const { snapshotBegin } = target.features;
  if (wanted === 'begin' && snapshotBegin !== undefined) {
    notes.push(`BEGIN becomes ${snapshotBegin}: ${contract.id} takes the snapshot there`);
    return snapshotBegin;
  }
  notes.push(`the snapshot is taken at another point (${wanted} in the history, ${has} in ${target.name})`);
  return undefined;
}

function isPlainBegin(sql: string | undefined): boolean {
  return sql === undefined || /^\s*(begin|start)(\s+(transaction|work))?[\s;]*$/i.test(sql);
}

/** Translates single statements; those that differ in nothing come back as they are, and each text is parsed once. */
function statementTranslator(engine: string, from: Dialect, to: Dialect): (sql: string) => string {
  const known = new Map<string, string>();
  const words = Object.hasOwn(keyWords, engine) ? keyWords[engine] : undefined;
  const translate = (sql: string): string => {
    if (from === to && (words === undefined || sql.search(words) < 0)) return sql;
    const statement = parseStatement(sql, from);
    if (statement.type === 'opaque') return words === undefined ? sql : sql.replace(words, '');
    const fit =
      statement.type === 'create-table' && words !== undefined ? withoutWords(statement, words) : statement;
    return from === to && fit === statement ? sql : printStatement(fit, to);
  };
  return (sql) => {
    const done = known.get(sql) ?? translate(sql);
    known.set(sql, done);
    return done;
  };
}

function withoutWords(table: CreateTableStatement, words: RegExp): CreateTableStatement {
  const without = <T extends { readonly type: string }>(constraint: T): T => {
    if (!('tail' in constraint) || typeof constraint.tail !== 'string') return constraint;
    const tail = constraint.tail.replace(words, '').trim();
    const { tail: _, ...rest } = constraint;
    return (tail === '' ? rest : { ...rest, tail }) as unknown as T;
  };
  return {
    ...table,
    columns: table.columns.map((column) => ({ ...column, constraints: column.constraints.map(without) })),
    constraints: table.constraints.map(without),
  };
}
