/**
 * Runs the test files again that failed in a whole run, one after another: `node scripts/rerun-failed.mjs RESULTS.json`, where
 * RESULTS.json is what vitest's reporter `json` wrote.
 *
 * On two cores the suite runs beside the servers it starts. A test that waits for real concurrency can miss its limit there and
 * pass alone; docs/decisions/ci-reruns.md says why that is no failure, and what still is one: more failing files than `most`, a file that
 * fails alone too, and a run without results. A file whose process died counts as failed: in RESULTS.json it
 * is missing, has no tests, or is said to have passed with tests that are pending.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

const most = 4;

const [results] = process.argv.slice(2);
if (results === undefined || !existsSync(results)) {
  console.error('the whole run left no results: nothing can be run again');
  process.exit(1);
}
const { testResults } = JSON.parse(readFileSync(results, 'utf8'));
const failed = testResults.filter(({ status }) => status !== 'passed');
const ended = ({ assertionResults: tests }) =>
  tests.length > 0 && tests.every(({ status }) => status !== 'pending');
const known = new Set([...testResults.filter(ended), ...failed].map(({ name }) => relative('.', name)));
const listed = spawnSync('npx', ['vitest', 'list', '--filesOnly', '--json'], { encoding: 'utf8' });
const died = JSON.parse(listed.stdout)
  .map(({ file }) => relative('.', file))
  .filter((name) => !known.has(name));
const files = [...failed.map(({ name }) => relative('.', name)), ...died];
if (files.length === 0 || files.length > most) {
  console.error(`${files.length} test files failed; from 1 to ${most} would be run again`);
  process.exit(1);
}
const { status } = spawnSync('npm', ['test', '--', '--no-file-parallelism', ...files], { stdio: 'inherit' });
if (status === 0) {
  console.log('These failed beside other tests and passed alone; each is a place to look:');
  for (const { name, assertionResults } of failed)
    for (const test of assertionResults.filter((each) => each.status === 'failed'))
      console.log(`  ${relative('.', name)} > ${test.fullName}`);
  for (const name of died) console.log(`  ${name}: its process ended before its tests did`);
}
process.exit(status ?? 1);
