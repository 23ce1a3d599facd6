import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { keptRows, ranAgain } from './environments.js';
import { hasGrown } from './soak.js';
import { type CampaignTable, publishCampaign } from './table.js';

it('the tests that passed only alone are counted by the words that the script says', () => {
  expect(readFileSync('scripts/rerun-failed.mjs', 'utf8')).toContain(`'${ranAgain}'`);
});

it('keeps rows of the page of environments, with their failures, but none that was not run', () => {
  const page = [
    '| environment | npm ci | failures | commit |',
    '| --- | --- | --- | --- |',
    '| root, umask 022 | ok | 0 | abc |',
    '| root, umask 077 | not run |  |  |',
    '| all at once | exit code 1 | 1 | def |',
    '',
    '- all at once, npm ci: exit code 1: text',
  ].join('\n');
  const rows = keptRows(page);
  expect([...rows.keys()]).toEqual(['root, umask 022', 'all at once']);
  expect(rows.get('root, umask 022')).toEqual({ row: ['root, umask 022', 'ok', '0', 'abc'], failures: [] });
  expect(rows.get('all at once')!.failures).toEqual(['all at once, npm ci: exit code 1: text']);
});

describe('a soak', () => {
  it('counts growth by more than a third that is more than noise', () => {
    expect(hasGrown(105, 139, 24)).toBe(false);
    expect(hasGrown(105, 141, 24)).toBe(true);
    expect(hasGrown(10, 30, 24)).toBe(false);
    expect(hasGrown(200, 230, 24)).toBe(false);
  });
});

describe('the page of a campaign', () => {
  const place = mkdtempSync(join(tmpdir(), 'isolde-pages-'));
  afterAll(() => rmSync(place, { recursive: true, force: true }));
  const table: CampaignTable = {
    ...{ name: 'kill', title: 'Stopped', about: 'a', command: 'npm run campaign kill', heads: ['x'] },
    ...{ rows: [['1']], failures: [] },
  };

  it('is linked from the index beside the others, and from none where there is none', async () => {
    vi.spyOn(console, 'log').mockReturnValue();
    vi.spyOn(console, 'error').mockReturnValue();
    await publishCampaign(table, place);
    expect(readFileSync(join(place, 'campaigns', 'kill.md'), 'utf8')).toContain('# Stopped\n');
    mkdirSync(join(place, 'campaigns'), { recursive: true });
    writeFileSync(join(place, 'campaigns', 'fuzz.md'), '# Fuzzing\n\ntext\n');
    const index = join(place, 'campaigns.md');
    writeFileSync(index, '# Campaigns\n\n<!-- pages -->\nold\n<!-- end of pages -->\n\nend\n');
    await publishCampaign(table, place);
    expect(readFileSync(index, 'utf8')).toBe(
      '# Campaigns\n\n<!-- pages -->\n- [Fuzzing](campaigns/fuzz.md)\n- [Stopped](campaigns/kill.md)\n<!-- end of pages -->\n\nend\n',
    );
    vi.restoreAllMocks();
  });
});
