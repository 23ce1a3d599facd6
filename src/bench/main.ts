/**
 * `npm run bench [execute|history|check …] [-- OPTIONS]`: measures, prints each figure beside its target, fails if one is
 * missed. Options go to each benchmark named. Without a name all run, but for those that take an hour. `--page FILE` writes the figures of
 * one benchmark as a page.
 */
import { writeFileSync } from 'node:fs';
import { IsoldeError } from '../errors.js';
import { benchCheck } from './check-bench.js';
import { benchCheckCommand } from './check-command-bench.js';
import { benchDedupe } from './dedupe/dedupe-bench.js';
import { benchExecute } from './execute-bench.js';
import { benchFleet } from './fleet-bench.js';
import { benchFormats } from './formats-bench.js';
import { benchHistory } from './history-bench.js';
import { benchHunt } from './hunt-bench.js';
import { type Figure, figuresPage, printFigures } from './measure.js';
import { benchProperties } from './properties-bench.js';
import { benchRaw } from './raw-bench.js';
import { benchReduce } from './reduce-bench.js';
import { benchReleases } from './releases-bench.js';
import { benchReplays } from './replays-bench.js';
import { benchReproduce } from './reproduce-bench.js';
import { benchStatement } from './statement-bench.js';
import { benchStudio } from './studio-bench.js';
import { benchTrace } from './trace-bench.js';

interface Bench {
  readonly title: string;
  readonly run: (options: readonly string[]) => Promise<Figure[]>;
  readonly onlyIfNamed?: boolean;
}

const benches: Readonly<Record<string, Bench>> = {
  history: { title: 'History files', run: benchHistory },
  check: {
    title: 'Checking',
    run: async (options) => [
      ...(await benchCheckCommand(options)),
      ...(await benchCheck()),
      ...(await benchFormats()),
      ...(await benchTrace()),
    ],
  },
  execute: { title: 'Executors', run: benchExecute },
  reproduce: { title: 'Reproduction', run: benchReproduce },
  reduce: { title: 'Reduction', run: benchReduce },
  hunt: { title: 'Hunt', run: benchHunt },
  dedupe: { title: 'Deduplication', run: benchDedupe, onlyIfNamed: true },
  studio: { title: 'Studio', run: benchStudio, onlyIfNamed: true },
  fleet: { title: 'Fleet', run: benchFleet, onlyIfNamed: true },
  statement: { title: 'Statement oracle', run: benchStatement, onlyIfNamed: true },
  properties: { title: 'Properties', run: benchProperties, onlyIfNamed: true },
  replays: { title: 'Replays of random histories', run: benchReplays, onlyIfNamed: true },
  raw: { title: 'Raw runs', run: benchRaw, onlyIfNamed: true },
  releases: { title: 'Hunts in releases', run: benchReleases, onlyIfNamed: true },
};

const args = process.argv.slice(2);
if (args.includes('--help') || args.includes('-h')) {
  console.log('npm run bench [NAME …] [-- OPTIONS]\n');
  for (const [name, { title, onlyIfNamed }] of Object.entries(benches)) {
    console.log(`  ${name.padEnd(10)} ${title}${onlyIfNamed ? ' (takes long; only if named)' : ''}`);
  }
  process.exit(0);
}
const firstOption = args.findIndex((arg) => arg.startsWith('--'));
const asked = firstOption < 0 ? args : args.slice(0, firstOption);
const options = firstOption < 0 ? [] : args.slice(firstOption);
const unknown = asked.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  console.error(`no benchmark named ${unknown.join(', ')}; there are: ${Object.keys(benches).join(', ')}`);
  process.exit(3);
}
const pageAt = options.indexOf('--page');
const page = pageAt < 0 ? undefined : options[pageAt + 1];
if (pageAt >= 0 && (page === undefined || asked.length !== 1)) {
  console.error('--page takes a file, and one benchmark must be named');
  process.exit(3);
}
let missed = 0;
const usual = Object.keys(benches).filter((name) => !benches[name]!.onlyIfNamed);
for (const name of asked.length > 0 ? asked : usual) {
  const figures = await benches[name]!.run(options).catch((error: unknown) => {
    if (!(error instanceof IsoldeError)) throw error;
    console.error(error.message);
    process.exit(3);
  });
  printFigures(`${benches[name]!.title} (npm run bench ${name})`, figures, (line) => console.log(line));
  missed += figures.filter((figure) => figure.pass === false).length;
  if (page !== undefined) {
    const command = ['npm run bench', ...asked, '--', ...options].join(' ');
    writeFileSync(page, figuresPage(benches[name]!.title, command, figures));
  }
}
process.exit(missed > 0 ? 1 : 0);
