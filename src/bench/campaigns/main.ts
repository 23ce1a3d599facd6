/**
 * `npm run campaign NAME [-- OPTIONS]`: long runs that try to break Isolde. Each prints its table. A whole run of at least the usual
 * size writes it into docs/campaigns/, where claims are read; a smaller or restricted one into build/campaigns/. The suite runs short forms. Exit
 * code 1 if something failed.
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { CampaignTable } from './table.js';
import { publishCampaign } from './table.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    at: { type: 'string' },
    minutes: { type: 'string' },
    jobs: { type: 'string' },
    target: { type: 'string', multiple: true },
    'no-write': { type: 'boolean', default: false },
  },
});

const count = (usual: number): number => (values.count === undefined ? usual : Number(values.count));
const at = values.at === undefined ? undefined : Number(values.at);
/** Options that leave out a part of a campaign. */
const isRestricted = values.only !== undefined || at !== undefined;

interface Campaign {
  readonly run: () => Promise<CampaignTable>;
  /** Whether this run is all of the campaign and not smaller than usual: then it is the one that the documentation shows. */
  readonly isWhole: boolean;
}

/** A campaign whose size is a count, on its usual targets. */
const counted = (usual: number, run: (count: number) => Promise<CampaignTable>): Campaign => ({
  run: () => run(count(usual)),
  isWhole: !isRestricted && values.target === undefined && count(usual) >= usual,
});

const { seed, target: targets, only } = values;
const minutes = values.minutes === undefined ? undefined : Number(values.minutes);

const campaigns: Readonly<Record<string, Campaign>> = {
  fuzz: counted(200_000, async (inputs) =>
    (await import('./fuzz.js')).fuzz({ count: inputs, seed, only, at }),
  ),
  kill: counted(200, async (moments) => {
    const jobs = Number(values.jobs ?? 1);
    return (await import('./kill.js')).kill({ count: moments, seed, at, targets, jobs });
  }),
  soak: {
    run: async () => (await import('./soak.js')).soak({ minutes: minutes ?? 60, targets }),
    isWhole: targets === undefined && (minutes ?? 60) >= 60,
  },
  crash: {
    run: async () => (await import('./crash.js')).crash({ count: count(30), seed, targets: targets ?? [] }),
    // Without a version that aborts it is only about costs.
    isWhole: targets !== undefined && count(30) >= 30,
  },
  fleet: counted(50, async (kills) => (await import('./fleet.js')).fleet({ count: kills, seed })),
  recovery: counted(200, async (faults) =>
    (await import('./recovery.js')).recovery({ count: faults, seed, targets }),
  ),
  escape: { run: async () => (await import('./escape.js')).tryToEscape(), isWhole: true },
  environments: {
    run: async () => {
      const page = await readFile('docs/campaigns/environments.md', 'utf8').catch(() => undefined);
      return (await import('./environments.js')).environments({ only, minutes, page });
    },
    // Rows that are not tried stay, each with its commit.
    isWhole: true,
  },
};

const [name = ''] = positionals;
if (!Object.hasOwn(campaigns, name)) {
  console.error(`usage: npm run campaign ${Object.keys(campaigns).join('|')} [-- OPTIONS]`);
  process.exit(3);
}
const { run, isWhole } = campaigns[name]!;
const table = await run();
await publishCampaign(table, values['no-write'] ? undefined : isWhole ? 'docs' : 'build');
process.exit(table.failures.length === 0 ? 0 : 1);
