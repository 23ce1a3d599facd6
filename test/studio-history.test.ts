/** The history view in a real browser: tens of thousands of operations, filters, findings, keys, hostile names. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Operation, writeWholeHistory } from '../src/histories/index.js';
import { isolde } from './isolde.js';
import { looks, openStudioBrowser, type StudioBrowser, soon } from './studio-browser.js';
import { hostile, noBrowser } from './studio-lab.js';

const count = 20_000;

function operation(index: number): Operation {
  const session = index % 40;
  const key = index % 97;
  return {
    index,
    session,
    transaction: Math.floor(index / 160) * 40 + session,
    kind: 'select',
    sql: `SELECT id, v FROM t WHERE id = ${key}${index === 7_777 ? ` -- ${hostile.script}${hostile.style}` : ''}`,
    start: index * 10_000,
    end: index * 10_000 + 90_000,
    outcome: index === 15_000 ? 'error' : 'ok',
    ...(index === 15_000
      ? { error: { class: 'deadlock', message: `deadlock ${hostile.bidi} ${'x'.repeat(1_000_000)}` } }
      : { columns: ['id', 'v'], rows: [[key, index]] }),
  };
}

/** T2 reads what T1 wrote and rolled back. */
const abortedRead = [
  { type: 'invoke', process: 0, index: 0, time: 10, f: 'txn', value: [['append', 7, 1]] },
  { type: 'fail', process: 0, index: 1, time: 20, f: 'txn', value: [['append', 7, 1]] },
  { type: 'invoke', process: 1, index: 2, time: 30, f: 'txn', value: [['r', 7, null]] },
  { type: 'ok', process: 1, index: 3, time: 40, f: 'txn', value: [['r', 7, [1]]] },
];

describe.skipIf(noBrowser !== undefined)(
  `histories in Chromium${noBrowser === undefined ? '' : `: ${noBrowser}`}`,
  { timeout: 120_000 },
  () => {
    let stage: StudioBrowser;
    beforeAll(async () => {
      stage = await openStudioBrowser(async ({ folder }) => {
        const [long, short] = [join(folder, 'long.history.jsonl'), join(folder, 'short.jsonl')];
        const sessions = Array.from({ length: 40 }, (_, i) => (i === 3 ? hostile.image : `S${i + 1}`));
        const operations = Array.from({ length: count }, (_, index) => operation(index));
        await writeWholeHistory(long, { header: { sessions }, operations });
        writeFileSync(short, abortedRead.map((event) => `${JSON.stringify(event)}\n`).join(''));
        return {
          histories: [long, short, join(folder, 'missing')],
          checkFile: async (file) => (await isolde(['check', file, '--json'])).out,
        };
      });
    }, 180_000);
    afterAll(() => stage?.close());

    const drawn = '.timeline canvas[data-complete=true]';

    it('draws a long history, which is moved and filtered by keys alone', async () => {
      for (const [name, look] of looks) {
        const page = await stage.open('#/history', look);
        await page.getByText('long.history.jsonl').waitFor();
        await stage.picture(page, `histories-${name}`);
        await stage.isSound(page);
        await page.keyboard.press('Tab');
        for (let i = 0; i < 20; i++) {
          await page.keyboard.press('Tab');
          const text = String(await page.evaluate('document.activeElement.textContent'));
          if (text.endsWith('long.history.jsonl')) break;
        }
        await page.keyboard.press('Enter');
        await page.locator(drawn).waitFor();
        const status = page.locator('[role=status]').first();
        await soon(() => status.textContent()).toContain('20,000 operations');
        await stage.picture(page, `history-${name}`);
        await stage.isSound(page);
        await page.close();
      }
      const page = await stage.open('#/history/file-0');
      await page.locator(drawn).waitFor();
      await page.locator('.timeline').focus();
      const status = page.locator('[role=status]').first();
      await soon(() => status.textContent()).toContain('in view: 0');
      const inView = page.locator('[aria-label="Operations in view"] li');
      // Closer until single operations are listed.
      for (let i = 0; i < 30 && (await inView.count()) === 0; i++) {
        const shown = await status.textContent();
        await page.keyboard.press('+');
        await page.keyboard.press('+');
        await soon(() => status.textContent()).not.toBe(shown);
        await page.locator(drawn).waitFor();
      }
      await soon(() => inView.count()).toBeGreaterThan(0);
      const before = await status.textContent();
      await page.keyboard.press('ArrowRight');
      await soon(() => status.textContent()).not.toBe(before);
      await page.keyboard.press('.');
      const chosen = page.locator('section[aria-label=operation]');
      await soon(() => chosen.locator('h2').textContent()).toContain('Operation 0');
      await page.keyboard.press('.');
      await soon(() => chosen.locator('h2').textContent()).toContain('Operation 1');
      await page.keyboard.press(',');
      await soon(() => chosen.locator('h2').textContent()).toContain('Operation 0');
      await page.locator(drawn).waitFor();
      await stage.picture(page, 'history-operations');
      await stage.isSound(page);
      await page.close();
    });

    it('filters by session, row, transaction, text and failure', async () => {
      const page = await stage.open('#/history/file-0');
      await page.locator(drawn).waitFor();
      const chosen = page.locator('section[aria-label=operation]');
      const next = page.getByRole('button', { name: 'Next operation' });
      const clear = page.getByRole('button', { name: 'Clear' });
      const steps = async (...numbers: readonly number[]) => {
        for (const number of numbers) {
          await next.click();
          await soon(() => chosen.locator('h2').textContent()).toContain(`Operation ${number}`);
        }
      };
      await page.getByLabel('row or key').fill('t/5');
      await page.keyboard.press('Enter');
      await steps(5, 102, 199);
      await clear.click();
      await page.getByLabel('failed only').check();
      await steps(15_000);
      await soon(() => chosen.textContent()).toContain(String.raw`deadlock \u202egnp.exe`);
      await clear.click();
      await page.getByLabel('session', { exact: true }).selectOption('3');
      await steps(15_003);
      await clear.click();
      await page.getByLabel('contains').fill('</style>');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Previous operation' }).click();
      await soon(() => chosen.textContent()).toContain(hostile.script);
      // What the operation itself offers.
      await chosen.getByRole('button', { name: /^transaction/ }).click();
      await soon(() => page.getByLabel('transaction', { exact: true }).inputValue()).toMatch(/^S18#\d+$/);
      await steps(7_817);
      await stage.picture(page, 'history-filtered');
      await stage.isSound(page);
      // By the mouse: a click on a box opens it, the wheel zooms, a drag moves.
      await page.locator('.timeline canvas').hover({ position: { x: 700, y: 200 } });
      await page.mouse.wheel(0, 300);
      await page.mouse.down();
      await page.mouse.move(500, 300, { steps: 4 });
      await page.mouse.up();
      await page.locator(drawn).waitFor();
      await stage.isSound(page);
      await page.close();
    });

    it('checks a history and jumps to what is wrong in it', async () => {
      const page = await stage.open('#/history/file-1');
      await page.getByRole('button', { name: 'Check it' }).click();
      const marks = page.locator('.marks button');
      await marks.first().waitFor();
      expect(await marks.first().textContent()).toContain('G1a');
      await page.locator('.timeline').focus();
      await page.keyboard.press('n');
      await page.locator('.mark-argument').waitFor();
      await soon(() => page.locator('section[aria-label=operation]').textContent()).toMatch(
        /append\(7,|r\(7,/,
      );
      await page.locator(drawn).waitFor();
      await stage.picture(page, 'history-finding');
      await stage.isSound(page);
      await page.close();
    });

    it('says what cannot be read', async () => {
      const page = await stage.open('#/history/file-2');
      await soon(() => page.locator('[role=alert]').textContent()).toContain('cannot read');
      await page.close();
    });
  },
);
