/**
 * A stranger's SQL is run only inside a scratch namespace, and must not reach out of it. What is refused at the door:
 * tables named with a schema or database, statements that are neither data, tables, indexes nor transaction control (COPY,
 * ATTACH, USE, GRANT, CALL, …), settings of the whole server, and functions that touch files or other sessions.
 *
 * It is a fence, not a proof: rerun a stranger's bug with a user who may do no harm, best on a server of its own.
 */
import type { Case } from '../cases/index.js';
import {
  classifyStatement,
  type Dialect,
  parseStatement,
  statementFeatures,
  tokenize,
} from '../sql/index.js';

const outside =
  /\b(pg_read_\w+|pg_ls_\w+|pg_stat_file|pg_terminate_backend|pg_cancel_backend|pg_reload_conf|pg_switch_wal|lo_import|lo_export|dblink\w*|load_file|load_extension|readfile|writefile|edit|sys_exec|sys_eval|read_\w+|parquet_scan|sniff_csv|glob|getenv|query|query_table)\s*\(|\bINTO\s+(OUTFILE|DUMPFILE)\b|\bPROGRAM\b/i;

/** The first statement that reaches out of a scratch, and how; undefined if none does. */
export function findReaching(bug: {
  readonly case: Case;
  readonly history: { readonly header: { readonly dialect?: Dialect } };
}): string | undefined {
  const { setup, sessions, dialect = bug.history.header.dialect } = bug.case;
  for (const sql of [...setup, ...sessions.flatMap(({ statements }) => statements)]) {
    const how = reachOf(sql, dialect);
    if (how !== undefined) return `${how}: ${sql.slice(0, 200)}`;
  }
  return undefined;
}

function reachOf(sql: string, dialect: Dialect | undefined): string | undefined {
  const { kind } = classifyStatement(sql, dialect);
  if (kind === 'other') return 'a statement of a kind that may reach out of a scratch namespace';
  const tokens = tokenize(sql, dialect).filter((token) => token.kind !== 'space' && token.kind !== 'comment');
  const words = tokens.map((token) => (token.kind === 'string' ? "''" : token.text)).join(' ');
  if (outside.test(words)) return 'a function or clause that reaches out of the database';
  if (tokens.some((token) => token.text === ';')) return 'several statements in one';
  if (
    kind === 'set' &&
    /\b(GLOBAL|PERSIST|PASSWORD|ROLE|SESSION\s+AUTHORIZATION)\b|@@\s*GLOBAL/i.test(words)
  ) {
    return 'a setting of the whole server';
  }
  if (
    kind === 'ddl' &&
    !/^(CREATE|DROP|ALTER|TRUNCATE)\s+(TEMPORARY\s+|TEMP\s+|UNIQUE\s+)*(TABLE|INDEX|VIEW|SEQUENCE)\b/i.test(
      words,
    )
  ) {
    return 'a definition that may reach out of a scratch namespace';
  }
  const statement = parseStatement(sql, dialect);
  const { reads, writes, opaque } = statementFeatures(statement);
  if ([...reads, ...writes].some(({ schema }) => schema !== undefined)) return 'a table of another namespace';
  // What we cannot parse may name tables anywhere: after FROM, JOIN, INTO, UPDATE and TABLE no dotted name may stand.
  const dotted = /\b(FROM|JOIN|INTO|UPDATE|TABLE|ON|REFERENCES)\s+(IF (NOT )?EXISTS )?(ONLY )?\S+ \. \S/i;
  return opaque && dotted.test(words) ? 'a table of another namespace' : undefined;
}
