/** Laws over the whole table of contracts and of kinds: what must be so whichever rows are added. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anomalies } from './anomaly.js';
import {
  type Anomaly,
  baseKinds,
  contractFor,
  contracts,
  contractsOf,
  findContract,
  findingKinds,
  parseFindingKind,
} from './index.js';
import { describeClaim, findingLabels, labelOf } from './label.js';
import { levels } from './level.js';
import { enginesOf } from './storage-engine.js';
import { clusterSetting, engineSetting, fieldOfClause } from './table.js';

const vendors = contracts.filter(({ kind }) => kind === 'vendor');
const theory = contracts.filter(({ kind }) => kind === 'theory');
const owners = [...new Set(vendors.map(({ owner }) => owner))];
const anyOwner = fc.constantFrom(...owners);
const anyLevel = fc.constantFrom(...levels);
/** Settings that some row asks for, with its value, another one, or in other letters. */
const settings = vendors.flatMap((row) => Object.entries(row.settings ?? {}));
const anySettings = fc
  .array(
    fc
      .tuple(fc.constantFrom(...settings), fc.constantFrom('as it is', 'upper', 'other'))
      .map(
        ([[name, value], how]) =>
          [name, how === 'as it is' ? value : how === 'upper' ? value.toUpperCase() : 'other'] as const,
      ),
    { maxLength: 4 },
  )
  .map((entries) => Object.fromEntries(entries) as Record<string, string>);

describe('the contract for an owner, a level and settings', () => {
  it('is one of that owner and level whose settings are all met (seed 30)', () => {
    fc.assert(
      fc.property(anyOwner, anyLevel, anySettings, (owner, level, given) => {
        const found = contractFor(owner, level, given);
        if (found === undefined) return;
        expect([found.owner, found.level, found.extends]).toEqual([owner, level, undefined]);
        for (const [name, value] of Object.entries(found.settings ?? {}))
          expect(given[name]?.toLowerCase()).toBe(value.toLowerCase());
      }),
      { seed: 30, numRuns: 400 },
    );
  });

  it('is the one that names most of the settings that are met (seed 31)', () => {
    fc.assert(
      fc.property(anyOwner, anyLevel, anySettings, (owner, level, given) => {
        const found = contractFor(owner, level, given);
        if (found === undefined) return;
        const count = (row: typeof found) => Object.keys(row.settings ?? {}).length;
        const met = contractsOf(owner).filter(
          (row) =>
            row.level === level &&
            row.extends === undefined &&
            Object.entries(row.settings ?? {}).every(
              ([name, value]) => given[name]?.toLowerCase() === value.toLowerCase(),
            ),
        );
        expect(count(found)).toBe(Math.max(...met.map(count)));
      }),
      { seed: 31, numRuns: 400 },
    );
  });

  it('does not depend on the letters of settings, nor on settings that nobody has (seed 32)', () => {
    fc.assert(
      fc.property(anyOwner, anyLevel, anySettings, (owner, level, given) => {
        const found = contractFor(owner, level, given);
        const lower = Object.fromEntries(
          Object.entries(given).map(([name, value]) => [name, value.toLowerCase()]),
        );
        expect(contractFor(owner, level, lower)).toBe(found);
        expect(contractFor(owner, level, { ...given, nobody_has: 'this' })).toBe(found);
      }),
      { seed: 32, numRuns: 200 },
    );
  });

  it.each(owners)('of %s is none of another storage engine or cluster', (owner) => {
    for (const level of levels) {
      expect(contractFor(owner, level, { [engineSetting]: 'no-such-engine' })).toBeUndefined();
      expect(contractFor(owner, level, { [clusterSetting]: 'no-such-cluster' })).toBeUndefined();
    }
  });
});

describe('rows of the table', () => {
  it('have titles that tell them apart', () => {
    const titles = contracts.map(({ title }) => title);
    expect(titles.filter((title, i) => titles.indexOf(title) !== i)).toEqual([]);
  });

  it('forbid only what is an anomaly', () => {
    const known: readonly Anomaly[] = anomalies.map(({ id }) => id);
    for (const { id, forbids } of contracts)
      expect([id, forbids.filter((each) => !known.includes(each))]).toEqual([id, []]);
  });

  it('of vendors with one owner, level and settings are one, but for what was reported beyond the manual', () => {
    const keys = vendors
      .filter((row) => row.extends === undefined)
      .map(({ owner, level, settings = {} }) =>
        JSON.stringify([owner, level, Object.entries(settings).sort()]),
      );
    expect(keys.filter((key, i) => keys.indexOf(key) !== i)).toEqual([]);
  });

  it('that extend another one extend a manual, for the same owner and level', () => {
    for (const { id, extends: plain, owner, level } of contracts) {
      if (plain === undefined) continue;
      const manual = findContract(plain)!;
      expect([id, manual.owner, manual.level, manual.extends]).toEqual([id, owner, level, undefined]);
    }
  });

  it.each(vendors.map(({ id, mechanism }) => [id, mechanism!] as const))(
    '%s: fields of its mechanism do not contradict each other',
    (_, mechanism) => {
      const { readsLock, readsLockBriefly, snapshotPer, pivot, firstUpdaterWins, writeConflict, protocol } =
        mechanism;
      expect(readsLock && readsLockBriefly === true).toBe(false);
      // A snapshot of each table is taken once, so reads are not each of their own state.
      if (snapshotPer !== undefined) expect(['statement', 'uncommitted']).not.toContain(pivot);
      // Whoever lets two writers at one row at once can make the second one fail only at COMMIT.
      if (firstUpdaterWins && protocol !== 'optimistic') expect(writeConflict).not.toBe('none');
    },
  );

  it.each(theory.map(({ id, settings: none, mechanism, extends: plain }) => [id, none, mechanism, plain]))(
    '%s: a theory says nothing of settings, mechanisms and reports',
    (_, ...said) => {
      expect(said).toEqual([undefined, undefined, undefined]);
    },
  );
});

describe('labels', () => {
  const clauses = contracts.flatMap((row) =>
    [...new Set(row.sources.map(({ clause }) => clause))].map((clause) => [row, clause] as const),
  );

  it('call a breach of a theory theory, of a manual a broken manual, and only additions reported', () => {
    for (const [{ id, kind, extends: plain }, clause] of clauses) {
      const label = labelOf({ contract: id, clause: `${clause} something` });
      expect(findingLabels).toContain(label);
      if (kind === 'theory') expect([id, clause, label]).toEqual([id, clause, 'theory']);
      else if (plain === undefined) expect([id, clause, label]).toEqual([id, clause, 'breaks-manual']);
    }
  });

  it('call an injected fault by its name in every claim', () => {
    for (const [{ id: contract }, clause] of clauses) {
      const target = { settings: { fault: 'dirty-read' } };
      const [claim, injected] = [
        describeClaim({ contract, clause }),
        describeClaim({ contract, clause, target }),
      ];
      expect(injected).toBe(`${claim}, by an injected fault`);
    }
  });

  it.each([
    ['pivot first-read', 'pivot'],
    ['forbids G1a', 'forbids'],
    ['forbids', 'forbids'],
  ])('the clause %j speaks of %s', (clause, field) => {
    expect(fieldOfClause(clause)).toBe(field);
  });
});

describe('kinds of findings', () => {
  it('are read back from their names, and from nothing longer or shorter', () => {
    for (const kind of findingKinds) {
      expect(parseFindingKind(kind)).toBe(kind);
      for (const other of [`${kind}-`, ` ${kind}`, `${kind}-session-session`])
        expect(parseFindingKind(other)).toBeUndefined();
    }
  });

  it.each(baseKinds.map((row) => [row.kind, row] as const))(
    '%s names clauses that contracts have',
    (_, row) => {
      const fields = new Set([
        // What needs no contract, what a contract forbids by name, and what the schema of the case declares.
        ...['always', 'forbids', 'declared'],
        ...vendors.flatMap(({ mechanism }) => Object.keys(mechanism!)),
      ]);
      expect(row.clauses.filter((clause) => !fields.has(clause))).toEqual([]);
      expect(row.clauses.length).toBeGreaterThan(0);
    },
  );
});

describe('the engines of a set-up', () => {
  it.each([
    ['CREATE TABLE t (a INT)', ['innodb']],
    ['CREATE TABLE t (a INT) ENGINE=MyISAM', ['myisam']],
    ['CREATE TABLE t (a INT) engine RocksDB, COMMENT "x"', ['rocksdb']],
    ["CREATE TABLE t (a VARCHAR(9) DEFAULT 'ENGINE=Aria')", ['innodb']],
    ["CREATE TABLE t (a INT COMMENT 'x)') ENGINE='Aria'", ['aria']],
    ['CREATE TEMPORARY TABLE IF NOT EXISTS t (engine INT)', ['innodb']],
    ['ALTER TABLE t ADD COLUMN b INT', []],
    ['ALTER TABLE t ENGINE = MEMORY', ['memory']],
    ['INSERT INTO t VALUES (1)', []],
    ['CREATE INDEX i ON t (a)', []],
  ])('%s is kept in %j', (sql, engines) => {
    expect(enginesOf([sql], 'InnoDB')).toEqual(engines);
  });
});
