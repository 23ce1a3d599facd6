/** The table of all contracts, and the ways to look one up. */
import type { Contract, ContractSource } from './contract.js';
import type { Level } from './level.js';
import { theoryContracts } from './theory.js';
import { cockroachContracts } from './vendors/cockroach.js';
import { derbyContracts } from './vendors/derby.js';
import { duckdbContracts } from './vendors/duckdb.js';
import { galeraContracts } from './vendors/galera.js';
import { h2Contracts } from './vendors/h2.js';
import { hsqldbContracts } from './vendors/hsqldb.js';
import { mariadbContracts } from './vendors/mariadb.js';
import { myrocksContracts } from './vendors/myrocks.js';
import { mysqlContracts } from './vendors/mysql.js';
import { oracleContracts } from './vendors/oracle.js';
import { postgresContracts } from './vendors/postgres.js';
import { sqliteContracts } from './vendors/sqlite.js';
import { sqlserverContracts } from './vendors/sqlserver.js';
import { standbyContracts } from './vendors/standby.js';
import { tidbContracts } from './vendors/tidb.js';
import { tursoContracts } from './vendors/turso.js';

/** Every contract Isolde knows: vendors first, then theory. */
export const contracts: readonly Contract[] = [
  ...duckdbContracts,
  ...tursoContracts,
  ...sqliteContracts,
  ...postgresContracts,
  ...standbyContracts,
  ...mariadbContracts,
  ...myrocksContracts,
  ...galeraContracts,
  ...mysqlContracts,
  ...tidbContracts,
  ...cockroachContracts,
  ...h2Contracts,
  ...hsqldbContracts,
  ...derbyContracts,
  ...oracleContracts,
  ...sqlserverContracts,
  ...theoryContracts,
];

/** The contract of that id, if there is one. */
export function findContract(id: string): Contract | undefined {
  return contracts.find((contract) => contract.id === id);
}

/** The contracts of a vendor or a theory (`postgres`, `adya`), from weakest to strongest. */
export function contractsOf(owner: string): readonly Contract[] {
  return contracts.filter((contract) => contract.owner === owner);
}

/** The setting that says where tables are kept whose CREATE TABLE does not say it (MySQL's family), and its usual value. */
export const engineSetting = 'default_storage_engine';
export const usualEngine = 'InnoDB';

/** The setting that says of how many servers the database is one: `standby`, `galera`; absent: of one. */
export const clusterSetting = 'cluster';
const oneServer = 'none';

/**
 * The contract that holds for an owner at a level with these settings. A storage engine has only contracts of its own, and so has a cluster. Among the rows whose settings are all
 * met, the one that names most of them; a setting nobody mentions counts as met only if no row asks for it. What adds
 * to a manual (`extends`) is never taken unasked.
 *
 *     contractFor('mariadb', 'repeatable read', { innodb_snapshot_isolation: 'ON' })?.id
 *     // 'mariadb:repeatable-read+innodb_snapshot_isolation'
 */
export function contractFor(
  owner: string,
  level: Level,
  settings: Readonly<Record<string, string>> = {},
): Contract | undefined {
  const met = contractsOf(owner).filter(
    (contract) =>
      contract.extends === undefined &&
      contract.level === level &&
      sameSetting(
        settings[engineSetting] ?? usualEngine,
        contract.settings?.[engineSetting] ?? usualEngine,
      ) &&
      sameSetting(settings[clusterSetting] ?? oneServer, contract.settings?.[clusterSetting] ?? oneServer) &&
      Object.entries(contract.settings ?? {}).every(([name, value]) => sameSetting(settings[name], value)),
  );
  return met.sort((a, b) => countSettings(b) - countSettings(a))[0];
}

/** The contract with what was reported beyond the manual, if there is one for this contract. */
export function reportedContract(plain: Contract): Contract | undefined {
  return contracts.find((contract) => contract.extends === plain.id);
}

/** The field of a contract that a clause speaks of: `pivot` of `pivot first-read`, `forbids` of `forbids G1a`. */
export function fieldOfClause(clause: string): string {
  return clause.split(' ', 1)[0]!;
}

/** Who reported what breaks a clause that the manual does not have; none for clauses of the manual. */
export function reportsOf({ extends: plain, sources }: Contract, clause: string): readonly ContractSource[] {
  if (plain === undefined) return [];
  const field = fieldOfClause(clause);
  const inManual = findContract(plain)!.sources.some((source) => source.clause === field);
  return inManual ? [] : sources.filter((source) => source.clause === field);
}

function sameSetting(actual: string | undefined, wanted: string): boolean {
  return actual !== undefined && actual.toLowerCase() === wanted.toLowerCase();
}

function countSettings(contract: Contract): number {
  return Object.keys(contract.settings ?? {}).length;
}
