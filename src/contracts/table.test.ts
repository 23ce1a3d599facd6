import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Anomaly, anomalies, describeAnomaly } from './anomaly.js';
import { snapshotForPlainReads } from './anomaly-sets.js';
import type { Contract } from './contract.js';
import { levels } from './level.js';
import { contractFor, contracts, contractsOf, findContract, reportedContract, reportsOf } from './table.js';

const vendorRows = contracts.filter(({ kind }) => kind === 'vendor');
/** What one snapshot for all plain reads rules out, and what serializability does. */
const plainReads = [...snapshotForPlainReads];
const every = anomalies.map(({ id }) => id).sort();
const anyContract = fc.constantFrom(...contracts);

function forbidsAllOf(strong: string, weak: string): readonly Anomaly[] {
  return findContract(weak)!.forbids.filter((anomaly) => !findContract(strong)!.forbids.includes(anomaly));
}

describe('the table of contracts', () => {
  it('gives every contract an id of its own that begins with its owner', () => {
    expect(new Set(contracts.map(({ id }) => id)).size).toBe(contracts.length);
    for (const { id, owner } of contracts) expect(id.startsWith(`${owner}:`), id).toBe(true);
  });

  it('covers the vendors and theories it is meant to', () => {
    expect([...new Set(contracts.map(({ owner }) => owner))]).toEqual([
      'duckdb',
      'turso',
      'sqlite',
      'postgres',
      'mariadb',
      'mysql',
      'tidb',
      'cockroach',
      'h2',
      'hsqldb',
      'derby',
      'oracle',
      'sqlserver',
      'adya',
      'ansi',
    ]);
  });

  it('describes the mechanism of every vendor row and of no theory', () => {
    for (const { id, kind, mechanism, level } of contracts) {
      expect(mechanism !== undefined, id).toBe(kind === 'vendor');
      if (kind === 'vendor') expect(levels, id).toContain(level);
    }
  });

  it('cites a source for every clause, and sources only for clauses there are', () => {
    for (const { id, mechanism, sources } of contracts) {
      const clauses = new Set(['forbids', ...Object.keys(mechanism ?? {})]);
      const cited = new Set(sources.map(({ clause }) => clause));
      expect([...cited].sort(), id).toEqual([...clauses].sort());
      for (const { url, title } of sources) {
        expect(url, id).toMatch(/^https:\/\//);
        expect(title.length, id).toBeGreaterThan(5);
      }
    }
  });

  it('lists no anomaly twice', () => {
    fc.assert(
      fc.property(anyContract, ({ forbids }) => new Set(forbids).size === forbids.length),
      { numRuns: 200 },
    );
  });

  it('forbids every narrow anomaly where it forbids a wide one', () => {
    for (const { id, forbids } of contracts) {
      for (const { id: narrow, partOf } of anomalies) {
        const wide = partOf.find((anomaly) => forbids.includes(anomaly));
        // Own writes aside, a narrow anomaly is an instance of the wide one, so it cannot be allowed.
        if (wide !== undefined) expect(forbids, `${id} forbids ${wide}`).toContain(narrow);
      }
    }
  });

  it('lets a mechanism and the promise agree', () => {
    for (const { id, mechanism, forbids } of vendorRows) {
      const { certifier, ownWrites, pivot, firstUpdaterWins, writesSee, snapshotMoves, snapshotPer } =
        mechanism!;
      expect(forbids.includes('G2'), id).toBe(certifier !== 'none');
      expect(forbids.includes('own-write-missed'), id).toBe(ownWrites);
      expect(forbids.includes('G1a'), id).toBe(pivot !== 'uncommitted');
      if (firstUpdaterWins) expect(forbids, id).toContain('lost-update');
      const fixed = pivot !== 'statement' && pivot !== 'uncommitted';
      if (fixed && snapshotMoves !== true && snapshotPer === undefined)
        expect(forbids, id).toEqual(expect.arrayContaining(plainReads));
      if (fixed && writesSee === 'snapshot' && firstUpdaterWins) expect(forbids, id).toContain('PMP-write');
      if (certifier !== 'none') expect([...forbids].sort(), id).toEqual(every);
    }
  });

  it.each([
    ['postgres:repeatable-read', 'postgres:read-committed'],
    ['postgres:serializable', 'postgres:repeatable-read'],
    ['mysql:read-committed', 'mysql:read-uncommitted'],
    ['mysql:repeatable-read', 'mysql:read-committed'],
    ['mysql:serializable', 'mysql:repeatable-read'],
    ['mariadb:repeatable-read+innodb_snapshot_isolation', 'mariadb:repeatable-read'],
    ['mariadb:serializable', 'mariadb:repeatable-read+innodb_snapshot_isolation'],
    ['tidb:repeatable-read', 'tidb:read-committed'],
    ['tidb:snapshot+optimistic', 'tidb:repeatable-read'],
    ['cockroach:serializable', 'cockroach:read-committed'],
    ['h2:read-committed', 'h2:read-uncommitted'],
    ['h2:repeatable-read', 'h2:read-uncommitted'],
    ['h2:snapshot', 'h2:read-committed'],
    ['h2:snapshot', 'h2:repeatable-read'],
    ['h2:serializable', 'h2:snapshot'],
    ['hsqldb:serializable+locks', 'hsqldb:read-committed+locks'],
    ['hsqldb:repeatable-read+mvcc', 'hsqldb:read-committed+mvcc'],
    ['hsqldb:serializable+locks', 'hsqldb:serializable+mvcc'],
    ['derby:read-committed', 'derby:read-uncommitted'],
    ['derby:repeatable-read', 'derby:read-committed'],
    ['derby:serializable', 'derby:repeatable-read'],
    ['oracle:serializable', 'oracle:read-committed'],
    ['sqlserver:read-committed', 'sqlserver:read-uncommitted'],
    ['sqlserver:repeatable-read', 'sqlserver:read-committed'],
    ['sqlserver:serializable', 'sqlserver:repeatable-read'],
    ['sqlserver:serializable', 'sqlserver:snapshot'],
    ['adya:PL-2', 'adya:PL-1'],
    ['adya:PL-CS', 'adya:PL-2'],
    ['adya:PL-2+', 'adya:PL-CS'],
    ['adya:PL-SI', 'adya:PL-2+'],
    ['adya:PL-2.99', 'adya:PL-CS'],
    ['adya:PL-3', 'adya:PL-SI'],
    ['adya:PL-3', 'adya:PL-2.99'],
    ['ansi:read-committed', 'ansi:read-uncommitted'],
    ['ansi:repeatable-read', 'ansi:read-committed'],
    ['ansi:serializable', 'ansi:repeatable-read'],
  ])('%s forbids all that %s forbids', (strong, weak) => {
    expect(forbidsAllOf(strong, weak)).toEqual([]);
  });

  it('keeps PL-SI and PL-2.99 apart: phantoms here, write skew there', () => {
    expect(forbidsAllOf('adya:PL-SI', 'adya:PL-2.99')).toEqual(['write-skew', 'G2-item']);
    expect(forbidsAllOf('adya:PL-2.99', 'adya:PL-SI')).toContain('PMP');
  });

  it('says that InnoDB at REPEATABLE READ promises own writes and plain reads, but no safe updates', () => {
    const { forbids } = findContract('mariadb:repeatable-read')!;
    expect(forbids).toEqual(expect.arrayContaining(['own-write-missed', 'read-skew', 'PMP']));
    for (const allowed of ['lost-update', 'read-write-skew', 'write-skew', 'PMP-write', 'G-single'] as const)
      expect(forbids).not.toContain(allowed);
  });
});

describe('looking contracts up', () => {
  it('finds every contract by its id and by its owner, level and settings', () => {
    fc.assert(
      fc.property(anyContract, (contract: Contract) => {
        expect(findContract(contract.id)).toBe(contract);
        expect(contractsOf(contract.owner)).toContain(contract);
        if (contract.level !== undefined && contract.extends === undefined)
          expect(contractFor(contract.owner, contract.level, contract.settings)).toBe(contract);
      }),
      { numRuns: 200 },
    );
  });

  it('takes the row of a setting only when the setting is on', () => {
    const off = contractFor('mariadb', 'repeatable read', { innodb_snapshot_isolation: 'OFF' });
    const on = contractFor('mariadb', 'repeatable read', { innodb_snapshot_isolation: 'on' });
    expect([off?.id, on?.id]).toEqual([
      'mariadb:repeatable-read',
      'mariadb:repeatable-read+innodb_snapshot_isolation',
    ]);
  });

  it('takes what was reported beyond the manual only when asked', () => {
    for (const owner of ['mariadb', 'mysql']) {
      const plain = contractFor(owner, 'repeatable read')!;
      expect(plain.id).toBe(`${owner}:repeatable-read`);
      const reported = reportedContract(plain)!;
      expect(reported.id).toBe(`${owner}:repeatable-read+reported`);
      expect(reported.forbids).toEqual(plain.forbids);
      const { ownDeletesHide, subqueriesSee, ...rest } = reported.mechanism!;
      expect(rest).toEqual(plain.mechanism);
      expect([ownDeletesHide, subqueriesSee]).toEqual([true, 'snapshot']);
      expect(reportsOf(reported, 'ownDeletesHide true').map(({ title }) => title)).toContain(
        'MySQL bug #105670',
      );
      expect(reportsOf(reported, 'subqueriesSee snapshot')).toHaveLength(1);
      expect(reportsOf(reported, 'ownWrites')).toEqual([]);
      expect(reportsOf(plain, 'ownDeletesHide true')).toEqual([]);
    }
    const others = contracts.filter(({ id }) => !/^(mariadb|mysql):repeatable-read$/.test(id));
    for (const contract of others) expect(reportedContract(contract), contract.id).toBeUndefined();
  });

  it('returns nothing for a level the owner does not have', () => {
    expect(contractFor('postgres', 'snapshot')).toBeUndefined();
    expect(findContract('postgres:snapshot')).toBeUndefined();
  });
});

describe('anomalies', () => {
  it('are parts of wider ones that exist, transitively and without cycles', () => {
    for (const { id, partOf } of anomalies) {
      for (const wide of partOf) {
        expect(describeAnomaly(wide), id).toBeDefined();
        expect(describeAnomaly(wide).partOf, id).not.toContain(id);
        for (const wider of describeAnomaly(wide).partOf) expect(partOf, `${id} in ${wide}`).toContain(wider);
      }
    }
  });
});
