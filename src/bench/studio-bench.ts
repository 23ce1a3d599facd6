/**
 * Measures the studio's history view in a real browser: how long a history of a million operations takes until it is drawn, how many
 * frames a second are drawn while it is moved, and the memory of the server, which is a process of its own as it is for a user.
 *
 * Options: `--operations N`; `--command "node …/isolde.js"` (default: `dist/bin/isolde.js`, which `npm run build` makes).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { IsoldeError } from '../errors.js';
import { makeTemporaryFolder } from '../temporary-folder.js';
import { writeTypicalHistory } from './history-bench.js';
import type { Figure } from './measure.js';

const programs = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export async function benchStudio(options: readonly string[]): Promise<Figure[]> {
  const option = (name: string) => {
    const at = options.indexOf(name);
    return at < 0 ? undefined : options[at + 1];
  };
  const operations = Number(option('--operations') ?? 1_000_000);
  const command = option('--command') ?? 'dist/bin/isolde.js';
  const browser = programs.find((path) => existsSync(path));
  if (browser === undefined) throw new IsoldeError('usage', 'this benchmark needs Chromium');
  if (!existsSync(command)) throw new IsoldeError('usage', `there is no ${command}; npm run build makes it`);
  const folder = await makeTemporaryFolder('bench-studio');
  let server: ChildProcess | undefined;
  const opened = await chromium.launch({ executablePath: browser, args: ['--no-sandbox'] });
  try {
    const file = join(folder.path, 'bench.history.jsonl');
    await writeTypicalHistory(file, operations);
    const args = [command, 'studio', folder.path, '--history', file, '--no-open'];
    const started = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    server = started;
    const url = await firstLine(started);
    const page = await opened.newPage({ viewport: { width: 1360, height: 900 } });
    const began = performance.now();
    await page.goto(url);
    await page.locator('.timeline canvas[data-complete=true]').waitFor({ timeout: 300_000 });
    const seconds = (performance.now() - began) / 1000;
    const rates = await moveAround(page);
    const memory = peakMb(started.pid!);
    return [
      {
        name: `open ${operations} operations`,
        measured: `${seconds.toFixed(1)} s`,
        target: '< 10 s',
        pass: seconds < 10,
      },
      ...rates.map(([name, rate]) => ({
        name: `frames while ${name}`,
        measured: `${rate.toFixed(0)}/s`,
        target: '>= 30/s',
        pass: rate >= 30,
      })),
      {
        name: 'peak memory of the server',
        measured: `${memory} MB`,
        target: '< 1024 MB',
        pass: memory < 1024,
      },
    ];
  } finally {
    await opened.close();
    server?.kill();
    await folder.remove();
  }
}

/** Frames drawn each second while keys are held, at three zooms. */
async function moveAround(page: Page): Promise<(readonly [what: string, rate: number])[]> {
  const timeline = page.locator('.timeline');
  await timeline.focus();
  const rates: (readonly [string, number])[] = [];
  for (const [what, key, seconds] of [
    ['zooming in', '+', 2],
    ['moving over shades', 'ArrowRight', 3],
    ['zooming in further', '+', 3],
    ['moving over operations', 'ArrowRight', 3],
  ] as const) {
    const before = await framesOf(page);
    const began = performance.now();
    await page.keyboard.down(key);
    await page.waitForTimeout(seconds * 1000);
    await page.keyboard.up(key);
    const took = (performance.now() - began) / 1000;
    rates.push([what, ((await framesOf(page)) - before) / took]);
  }
  return rates;
}

async function framesOf(page: Page): Promise<number> {
  return Number(await page.locator('.timeline canvas').getAttribute('data-frames'));
}

function firstLine(started: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    started.stdout!.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      const end = text.indexOf('\n');
      if (end >= 0) resolve(text.slice(0, end));
    });
    started.on('exit', () => reject(new IsoldeError('usage', 'the studio ended before it was ready')));
  });
}

/** The most memory that a process ever had. */
function peakMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024);
}
