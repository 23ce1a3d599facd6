/**
 * What an error of the MySQL family means for a transaction.
 *
 * The class comes from the error number: SQLSTATE is HY000 for most of what matters here (1205, 1020, all of
 * TiDB's). Numbers from 8000 up are TiDB's own. Whether the transaction is still open is not read from this
 * table but asked from the server (`mysql-session.ts`).
 */
import type { ErrorClass, OperationError } from '../../histories/index.js';

/** An error as the driver hands it over. */
export interface MysqlError {
  /** The server's number; absent when the connection itself failed. */
  readonly errno?: number | undefined;
  /** The driver's name: `ER_LOCK_DEADLOCK`, `ECONNRESET`. */
  readonly code?: string | undefined;
  readonly sqlState?: string | undefined;
  readonly message: string;
}

const numbers: Readonly<Partial<Record<ErrorClass, readonly number[]>>> = {
  deadlock: [1213, 1614],
  // 1020: the row changed after our snapshot (innodb_snapshot_isolation). 8002, 8022, 8028, 9007: TiDB.
  serialization: [1020, 8002, 8022, 8028, 9007],
  'lock-timeout': [1205],
  busy: [3572],
  'statement-timeout': [1969, 3024],
  cancelled: [1317],
  'duplicate-key': [1022, 1062, 1169, 1586, 1859],
  constraint: [1048, 1216, 1217, 1364, 1451, 1452, 1557, 1761, 1762, 3819, 4025],
  syntax: [1064, 1149, 4161],
  // 1792: a write in a READ ONLY transaction; 4059: the same after WITH CONSISTENT SNAPSHOT of MyRocks.
  unsupported: [1178, 1214, 1235, 1286, 1289, 1295, 1792, 1845, 1846, 4059, 8108, 8200],
  // 1242: a subquery gave more than one row.
  data: [
    1242, 1264, 1265, 1292, 1365, 1366, 1367, 1406, 1411, 1416, 1426, 1441, 1525, 1649, 1690, 3140, 3141,
    4038,
  ],
  'out-of-memory': [1037, 1041],
  'connection-lost': [1152, 1158, 1159, 1160, 1161, 1184, 1927, 2006, 2013, 2055, 4031],
  crash: [1053, 3168],
};

const classes: ReadonlyMap<number, ErrorClass> = new Map(
  Object.entries(numbers).flatMap(([name, list]) =>
    list.map((number) => [number, name as ErrorClass] as const),
  ),
);

/** The class of an error; the statement decides what 1205 means, for MariaDB answers NOWAIT with it. */
export function classifyMysqlError(error: MysqlError, sql = ''): ErrorClass {
  if (isConnectionError(error))
    return classes.get(error.errno ?? 0) === 'crash' ? 'crash' : 'connection-lost';
  const found = classes.get(error.errno ?? 0) ?? 'other';
  // MyRocks gives both the same number; only one of them depends on timing.
  if (found === 'deadlock' && /snapshot conflict/i.test(error.message)) return 'serialization';
  return found === 'lock-timeout' && /\bNOWAIT\b/i.test(sql) ? 'busy' : found;
}

/** Whether the connection is gone after this error. Errors the driver raises itself carry no SQLSTATE. */
export function isConnectionError(error: MysqlError): boolean {
  if (error.sqlState === undefined) return true;
  const found = classes.get(error.errno ?? 0);
  return found === 'connection-lost' || found === 'crash';
}

/** The error as an answer carries it. */
export function operationError(error: MysqlError, sql: string): OperationError {
  return {
    class: classifyMysqlError(error, sql),
    code: error.errno !== undefined && error.errno > 0 ? String(error.errno) : (error.code ?? 'unknown'),
    message: error.message,
  };
}
