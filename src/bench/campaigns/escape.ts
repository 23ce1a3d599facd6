/**
 * `npm run campaign escape`: the attack list. Hostile statements are tried on every kind of URL, and whether one wrote a
 * file, reached another schema or survived its scratch is looked at from outside. The list is a test
 * (`src/targets/attacks/`); this runs it and tabulates what came of each test.
 */
import { spawnSync } from 'node:child_process';
import type { CampaignTable } from './table.js';

const suites = ['src/targets/attacks', 'test/fence.test.ts', 'test/allow-list.test.ts'];

interface Results {
  readonly testResults: readonly {
    readonly name: string;
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

export function tryToEscape(): CampaignTable {
  const run = spawnSync('npx', ['vitest', 'run', '--reporter=json', ...suites], {
    encoding: 'utf8',
    maxBuffer: 256 * 1024 ** 2,
  });
  const { testResults } = JSON.parse(run.stdout.slice(run.stdout.indexOf('{'))) as Results;
  const failures: string[] = [];
  const rows = testResults.map(({ name, assertionResults, message }) => {
    const number = (status: string) => assertionResults.filter((each) => each.status === status).length;
    const file = name.slice(name.search(/(src|test)\//));
    if (assertionResults.length === 0) failures.push(`${file}: ${message ?? 'no test ran'}`);
    for (const each of assertionResults)
      if (each.status === 'failed')
        failures.push(
          `${each.fullName}: ${each.failureMessages?.[0]?.split('\n')[0] ?? ''}; \`npx vitest run ${file}\``,
        );
    const skipped = assertionResults.length - number('passed') - number('failed');
    return [file, String(number('passed')), String(skipped), String(number('failed'))];
  });
  return {
    name: 'escape',
    title: 'Hostile statements',
    about:
      'Statements that try to write files, read them, leave their schema, change roles or run programs, on every kind of URL. Engines that are not installed are skipped. A failure is damage seen from outside, or a statement that should have been refused.',
    command: 'npm run campaign escape',
    heads: ['suite', 'held', 'skipped', 'failures'],
    rows,
    failures,
  };
}
