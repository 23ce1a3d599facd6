/**
 * `npm run check:silence [-- URL LEVEL] [--transactions N] [--seed S] [--round R]`: listens for false alarms on real engines. A URL
 * that is not on the list (another version, another setting) needs its level.
 */
import { parseArgs } from 'node:util';
import { parseLevel } from '../contracts/index.js';
import { listenForAlarms, silentTargets } from './silence.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    transactions: { type: 'string', default: '8000' },
    seed: { type: 'string', default: '1' },
    round: { type: 'string' },
  },
});
const [url, level] = positionals;
const known = silentTargets
  .flatMap((target) => target.levels.map((each) => ({ url: target.url, level: each })))
  .filter(
    (each) =>
      (url === undefined || each.url === url) && (level === undefined || each.level === parseLevel(level)),
  );
const wanted = level === undefined ? undefined : parseLevel(level);
// Another version or setting: whoever names it knows what it is.
const asked =
  known.length > 0 || url === undefined || wanted === undefined ? known : [{ url, level: wanted }];
if (asked.length === 0) throw new Error(`no engine or level of that name: ${positionals.join(' ')}`);

let [alarms, total] = [0, 0];
for (const each of asked) {
  const start = performance.now();
  const result = await listenForAlarms({
    ...each,
    transactions: Number(values.transactions),
    seed: values.seed,
    ...(values.round === undefined ? {} : { round: Number(values.round) }),
    print: (line) => console.log(line),
  });
  alarms += result.alarms.length;
  total += result.transactions;
  const seen = Object.entries(result.known).map(([issue, count]) => `; ${count} × ${issue}`);
  const seconds = (performance.now() - start) / 1000;
  console.log(
    `${each.url} ${each.level}: ${result.transactions} transactions, ${result.statements} statements (${((result.failed / result.statements) * 100).toFixed(1)} % failed), ` +
      `${result.readsJudged} reads judged and ${result.readsSkipped} not, ${result.alarms.length} alarms${seen.join('')} (${seconds.toFixed(0)} s)`,
  );
}
console.log(`${total} transactions, ${alarms} false alarms`);
process.exit(alarms > 0 ? 1 : 0);
