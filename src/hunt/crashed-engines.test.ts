import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CrashedEngines, EngineOpener } from './crashed-engines.js';

let store: string;
beforeEach(() => {
  store = mkdtempSync(join(tmpdir(), 'isolde-crashed-'));
});
afterEach(() => rmSync(store, { recursive: true, force: true }));

const engine = { name: 'duckdb', version: 'v1.0' };
const host = hostname().replaceAll(/[^\w.+]+/g, '_');
/** The number of a process that has ended. */
const deadPid = () => spawnSync(process.execPath, ['-e', '']).pid;

describe('an engine', () => {
  it('is remembered when a process it ran in is gone, and only then', async () => {
    const crashed = new CrashedEngines(store);
    expect(await crashed.has(engine)).toBe(false);
    await crashed.begin(engine);
    // Its process, ours, runs.
    expect(await new CrashedEngines(store).has(engine)).toBe(false);
    crashed.end();
    expect(readdirSync(join(store, 'engines'))).toEqual([]);
    writeFileSync(join(store, 'engines', `duckdb_v1.0.running-${deadPid()}-${host}`), '');
    expect(await crashed.has({ ...engine, version: 'v1.1' })).toBe(false);
    expect(await crashed.has(engine)).toBe(true);
    expect(readdirSync(join(store, 'engines'))).toEqual(['duckdb_v1.0.crashed']);
    expect(await crashed.has(engine)).toBe(true);
  });

  it('and another one beside it, as the sibling of a hunt is, leave no marks when the hunt ends', async () => {
    const crashed = new CrashedEngines(store);
    await crashed.begin(engine);
    await crashed.begin({ ...engine, version: 'v0.9' });
    expect(readdirSync(join(store, 'engines'))).toHaveLength(2);
    crashed.end();
    expect(readdirSync(join(store, 'engines'))).toEqual([]);
  });

  it('that runs on another machine is not judged from here', async () => {
    mkdirSync(join(store, 'engines'));
    writeFileSync(join(store, 'engines', `duckdb_v1.0.running-${deadPid()}-not_${host}`), '');
    expect(await new CrashedEngines(store).has(engine)).toBe(false);
  });
});

describe('a hunt', () => {
  /** Opens the URL as a hunt does; what it said, and where the engine ran. */
  async function opened(url: string, crash = false) {
    const said: string[] = [];
    const crashed = new CrashedEngines(store);
    const opener = new EngineOpener(url, crashed, (line) => said.push(line));
    const target = await opener.open();
    await target.close();
    if (crash) await opener.hasCrashed();
    crashed.end();
    return { said, process: target.stamp.settings?.process };
  }

  it('that found a crash remembers the engine; ?process=same and other engines are not affected', async () => {
    expect(await opened('sqlite:', true)).toEqual({ said: [], process: undefined });
    expect(readdirSync(join(store, 'engines'))).toEqual([expect.stringMatching(/^sqlite_.*\.crashed$/)]);
    expect(await opened('sqlite:?process=same')).toEqual({ said: [], process: undefined });
    expect(await opened('duckdb:')).toEqual({ said: [], process: undefined });
  });
});
