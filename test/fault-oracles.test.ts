/**
 * Every fault of the wrapper against every oracle on every engine it can be injected into. The table is generated into
 * the documentation (`npx vitest run test/fault-oracles.test.ts -u` writes it anew), and each fault must be found, with
 * the clause it breaks, by some oracle on at least two engines.
 */
import { describe, expect, it } from 'vitest';
import { checkInstrumented, type Finding, instrumentCase, verifyMechanism } from '../src/check/index.js';
import { type Contract, findContract, type Level } from '../src/contracts/index.js';
import { runScheduled } from '../src/execute/index.js';
import { run } from '../src/judge/index.js';
import { duckdbAvailable } from '../src/targets/duckdb/index.js';
import { openTarget, parseFault, type Target, withFault } from '../src/targets/index.js';
import { mariadbAvailable } from '../src/targets/mariadb/index.js';
import { postgresAvailable } from '../src/targets/postgres/index.js';
import { tursoAvailable } from '../src/targets/turso/index.js';
import { begunFor } from './begun-for.js';
import { type FaultCase, faultCases } from './fault-cases.js';
import { enginesRequired } from './isolde.js';

const engines: readonly { readonly name: string; readonly url: string; readonly level: Level }[] = [
  { name: 'DuckDB', url: 'duckdb:', level: 'snapshot' },
  { name: 'Turso MVCC', url: 'turso:?mode=mvcc', level: 'snapshot' },
  { name: 'PostgreSQL RR', url: 'postgres:', level: 'repeatable read' },
  { name: 'MariaDB RR', url: 'mariadb:', level: 'repeatable read' },
];

type Oracle = (
  target: Target,
  faultCase: FaultCase,
  contract: Contract,
  level: Level,
) => Promise<readonly Finding[]>;

const mechanism: Oracle = async (target, { case: scheduled }, contract, level) => {
  const scratch = await target.createScratch();
  try {
    const begun = begunFor(scheduled, target, level);
    return verifyMechanism(await runScheduled(scratch, begun, { target, level }), contract).findings;
  } finally {
    await scratch.drop();
  }
};

const instrumented: Oracle = async (target, { case: scheduled }, contract, level) => {
  // The wrapper's faults of deletes do not strike at DELETE … RETURNING.
  const plan = instrumentCase(scheduled, target.dialect, { returning: false, contract });
  const scratch = await target.createScratch();
  try {
    const history = await runScheduled(scratch, begunFor(plan.scheduled, target, level), {
      target,
      level,
      observe: plan.observe,
    });
    return checkInstrumented(history, plan, { contract }).findings;
  } finally {
    await scratch.drop();
  }
};

const statement: Oracle = async (target, { case: scheduled }, contract, level) =>
  (await run(begunFor(scheduled, target, level), { target, contract, level, oracle: 'statement' })).findings;

const oracles: readonly (readonly [string, Oracle])[] = [
  ['mechanism', mechanism],
  ['graph', instrumented],
  ['statement', statement],
];

const missing = [duckdbAvailable(), tursoAvailable(), postgresAvailable(), mariadbAvailable()].find(
  (reason) => reason !== undefined,
);

describe.skipIf(missing !== undefined && !enginesRequired)(
  `faults and oracles${missing ? ` (${missing})` : ''}`,
  () => {
    it('finds every fault on at least two engines, and the page says by which oracle', async () => {
      const cells = new Map<string, string>();
      const found = new Map<string, Set<string>>(faultCases.map(({ fault }) => [fault, new Set()]));
      for (const { name, url, level } of engines) {
        const target = await openTarget(url);
        try {
          const contract = findContract(target.levels.find((each) => each.level === level)!.contract)!;
          for (const faultCase of faultCases) {
            const { fault, trigger, needsLockingReads, needsFirstUpdaterWins } = faultCase;
            const impossible =
              (needsLockingReads && !target.features.lockingReads) ||
              (needsFirstUpdaterWins && contract.mechanism?.firstUpdaterWins !== true);
            for (const [oracleName, oracle] of oracles) {
              const key = `${fault}/${name}/${oracleName}`;
              if (impossible) {
                cells.set(key, 'n/a');
                continue;
              }
              const faulty = withFault(target, parseFault(`${fault}(${trigger})`));
              const healthy = await oracle(target, faultCase, contract, level);
              const findings = (await oracle(faulty, faultCase, contract, level)).filter(
                ({ kind }) => !healthy.some((known) => known.kind === kind),
              );
              if (findings.length > 0) found.get(fault)!.add(name);
              cells.set(key, [...new Set(findings.map(({ kind }) => kind))].join(', ') || '–');
            }
          }
        } finally {
          await target.close();
        }
      }
      const header = engines.flatMap(({ name }) => oracles.map(([oracleName]) => `${name}: ${oracleName}`));
      const table = [
        `| fault | ${header.join(' | ')} |`,
        `|---|${header.map(() => '---').join('|')}|`,
        ...faultCases.map(({ fault }) => {
          const row = engines.flatMap(({ name }) =>
            oracles.map(([oracleName]) => cells.get(`${fault}/${name}/${oracleName}`)),
          );
          return `| \`${fault}\` | ${row.join(' | ')} |`;
        }),
      ];
      const page = [
        '# Which oracle finds which fault',
        '',
        'Generated by `npx vitest run test/fault-oracles.test.ts -u`, which runs the case of each [fault](faults.md) on each',
        'engine and asks the SQL oracles under the vendor’s contract: the [mechanism verifier](check-mechanism.md) on the plain',
        'case, the [dependency graph](check-instrument.md) on the instrumented one, the [statement oracle](check-statement.md) on',
        'the one with reads around its statements. A cell names the kinds of finding that the',
        'fault adds to what the healthy engine shows; – means none, n/a that the engine has nothing for the fault to break.',
        'Instrumentation hides some bugs (an update that appends to a list always changes the row), which is why there are two.',
        '',
        ...table,
        '',
      ].join('\n');
      for (const [fault, names] of found)
        expect([...names].length, `${fault} on ${[...names]}`).toBeGreaterThanOrEqual(2);
      await expect(page).toMatchFileSnapshot('../docs/stages/check-faults.md');
    }, 480_000);
  },
);
