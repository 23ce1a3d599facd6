/**
 * `npm run campaign NAME [-- OPTIONS]`: long runs that try to break Isolde. Each prints its table and writes it into
 * docs/campaigns/; the suite runs short forms. Exit code 1 if something failed.
 */
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

const number = (text: string | undefined, usual: number): number =>
  text === undefined ? usual : Number(text);

const campaigns: Readonly<Record<string, () => Promise<CampaignTable>>> = {
  fuzz: async () => {
    const { fuzz } = await import('./fuzz.js');
    const at = values.at === undefined ? undefined : Number(values.at);
    return fuzz({ count: number(values.count, 200_000), seed: values.seed, only: values.only, at });
  },
  kill: async () => {
    const { kill } = await import('./kill.js');
    const at = values.at === undefined ? undefined : Number(values.at);
    const jobs = number(values.jobs, 1);
    return kill({ count: number(values.count, 200), seed: values.seed, at, targets: values.target, jobs });
  },
  soak: async () => {
    const { soak } = await import('./soak.js');
    return soak({
      minutes: number(values.minutes, 60),
      targets: values.target ?? ['postgres:', 'mariadb:', 'duckdb:'],
    });
  },
  crash: async () => {
    const { crash } = await import('./crash.js');
    return crash({ count: number(values.count, 30), seed: values.seed, targets: values.target ?? [] });
  },
  escape: async () => (await import('./escape.js')).tryToEscape(),
  environments: async () => {
    const { environments } = await import('./environments.js');
    const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
    return environments({ only: values.only, minutes });
  },
};

const [name = ''] = positionals;
if (!Object.hasOwn(campaigns, name)) {
  console.error(`usage: npm run campaign ${Object.keys(campaigns).join('|')} [-- OPTIONS]`);
  process.exit(3);
}
const table = await campaigns[name]!();
const partial = values.only !== undefined || values.at !== undefined || values['no-write'];
await publishCampaign(table, partial ? undefined : 'docs/campaigns');
process.exit(table.failures.length === 0 ? 0 : 1);
