import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScheduledCase } from '../cases/index.js';
import { findCapabilities } from '../generate/index.js';
import { probeCases } from '../probe/index.js';
import { findBug } from '../report/found-bug.case.js';
import type { Bug } from '../report/index.js';
import { openStore } from '../store/index.js';
import { openTarget } from '../targets/index.js';
import { readTemplates, templatesOfStore } from './found-templates.js';
import { groupSize, Rounds } from './round.js';

let root: string;
let folder: string;
let bug: Bug;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'isolde-templates-'));
  folder = join(root, 'store');
  const target = await openTarget('duckdb:');
  const scheduled = probeCases.find(({ id }) => id === 'lost-update-deleted-row')!;
  bug = await findBug({ target, scratch: await target.createScratch(), scheduled });
  await target.close();
  await (await openStore(folder)).add(bug);
});
afterAll(() => rm(root, { recursive: true, force: true }));

const optionsOf = (target = 'duckdb') => ({
  seed: 'found',
  capabilities: findCapabilities(target)!,
  levels: ['snapshot'] as const,
  oracles: [
    { name: 'mechanism', rounds: 5 },
    { name: 'dependency-graph', rounds: 3 },
  ],
});
const rounds = (found: readonly ScheduledCase[], target?: string) =>
  new Rounds({ ...optionsOf(target), found });
const groups = Array.from({ length: 120 }, (_, i) => (100 + i) * groupSize);

describe('the bugs of a store as templates', () => {
  it('are a set with a name that its content gives, and come back by that name', async () => {
    const found = (await templatesOfStore(folder))!;
    expect(found.templates.map((each) => each.case.name)).toEqual([bug.id]);
    expect(found.templates[0]!.case.sessions).toEqual(bug.case.sessions);
    expect(await templatesOfStore(folder)).toEqual(found);
    expect(await readdir(join(folder, 'templates'))).toEqual([`${found.hash}.json`]);
    expect(await readTemplates(folder, found.hash)).toEqual(found);
  });

  it('are none where nothing was found', async () => {
    expect(await templatesOfStore(join(root, 'empty'))).toBeUndefined();
  });

  it('leave out what reaches out of a scratch namespace', async () => {
    const evil = join(root, 'evil');
    await (await openStore(evil)).add({
      ...bug,
      case: { ...bug.case, setup: [...bug.case.setup, "COPY test TO '/tmp/x'"] },
    });
    expect(await templatesOfStore(evil)).toBeUndefined();
  });

  it('are refused by a name that is none, that is unknown, or that belongs to another text', async () => {
    await expect(readTemplates(folder, '../../etc')).rejects.toThrow('12 hexadecimal digits');
    await expect(readTemplates(folder, '000000000000')).rejects.toThrow('no set of templates 000000000000');
    const { hash } = (await templatesOfStore(folder))!;
    const file = join(folder, 'templates', `${hash}.json`);
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('UPDATE', 'DELETE'));
    await expect(readTemplates(folder, hash)).rejects.toThrow(`${hash}.json: its text was changed`);
    await writeFile(file, text);
  });

  it('make up a tenth of the programs, changed, and the same ones for the same set', async () => {
    const { templates } = (await templatesOfStore(folder))!;
    const [one, other] = [rounds(templates), rounds(templates)];
    const drawn = groups.map((number) => one.round(number));
    expect(groups.map((number) => other.round(number))).toEqual(drawn);
    const varied = drawn.filter(({ source }) => source === `bug ${bug.id}`);
    expect(varied.length / drawn.length).toBeGreaterThan(0.04);
    expect(varied.length / drawn.length).toBeLessThan(0.2);
    const texts = new Set(varied.map((round) => JSON.stringify([round.case.setup, round.case.sessions])));
    expect(texts.size).toBe(varied.length);
  });

  it('change no round of a hunt that has none', () => {
    const [without, empty] = [new Rounds(optionsOf()), rounds([])];
    for (const number of groups.slice(0, 20)) expect(empty.round(number)).toEqual(without.round(number));
  });

  it('are written in the dialect of the database, or left out when they cannot be', async () => {
    const { templates } = (await templatesOfStore(folder))!;
    const sources = (list: readonly ScheduledCase[]) =>
      groups
        .slice(0, 60)
        .map((number) => rounds(list, 'mariadb').round(number))
        .filter(({ source }) => source.startsWith('bug'));
    const varied = sources(templates);
    expect(varied.length).toBeGreaterThan(0);
    expect(varied.every((round) => round.case.dialect === 'mysql')).toBe(true);
    const opaque = templates.map((each) => ({
      ...each,
      case: { ...each.case, setup: [...each.case.setup, 'PRAGMA threads = 2'] },
    }));
    expect(sources(opaque)).toEqual([]);
  });
});
