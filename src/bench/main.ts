/** `npm run bench [execute|history|check …]`: measures, prints each figure beside its target, fails if one is missed. */
import { benchCheck } from './check-bench.js';
import { benchExecute } from './execute-bench.js';
import { benchFormats } from './formats-bench.js';
import { benchHistory } from './history-bench.js';
import { type Figure, printFigures } from './measure.js';
import { benchReduce } from './reduce-bench.js';
import { benchReproduce } from './reproduce-bench.js';
import { benchTrace } from './trace-bench.js';

const benches: Readonly<Record<string, { readonly title: string; readonly run: () => Promise<Figure[]> }>> = {
  history: { title: 'History files', run: benchHistory },
  check: {
    title: 'Checking',
    run: async () => [...(await benchCheck()), ...(await benchFormats()), ...(await benchTrace())],
  },
  execute: { title: 'Executors', run: benchExecute },
  reproduce: { title: 'Reproduction', run: benchReproduce },
  reduce: { title: 'Reduction', run: benchReduce },
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  console.error(`no benchmark named ${unknown.join(', ')}; there are: ${Object.keys(benches).join(', ')}`);
  process.exit(3);
}
let missed = 0;
for (const name of asked.length > 0 ? asked : Object.keys(benches)) {
  const figures = await benches[name]!.run();
  printFigures(`${benches[name]!.title} (npm run bench ${name})`, figures, (line) => console.log(line));
  missed += figures.filter((figure) => figure.pass === false).length;
}
process.exit(missed > 0 ? 1 : 0);
