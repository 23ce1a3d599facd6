/** What the campaigns see of processes: those that work below a folder, and what they use. Linux only (/proc). */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A new temporary folder that other users may enter: a server that root starts runs as one of them. */
export async function openFolder(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `isolde-${name}-`));
  await chmod(folder, 0o755);
  return folder;
}

/** The command line of the build these campaigns are part of. */
const cli = fileURLToPath(new URL('../../cli/main.js', import.meta.url));

export interface Started {
  readonly child: ChildProcess;
  /** Resolves with the exit code, or the signal it died of, and the end of what it said. */
  readonly ended: Promise<{ readonly code: number | string; readonly said: string }>;
}

/** Starts `isolde ARGS` with a temporary folder of its own. */
export function startIsolde(args: readonly string[], temporary: string, cwd: string): Started {
  const child = spawn(process.execPath, [cli, ...args], {
    cwd,
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-2_000);
    });
  const ended = new Promise<{ code: number | string; said: string }>((resolve) => {
    child.on('close', (code, signal) => resolve({ code: code ?? signal ?? 'unknown', said }));
  });
  return { child, ended };
}

/** Processes whose command line names this folder, the campaign's own excepted. */
export function processesIn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => textOf(`/proc/${pid}/cmdline`).includes(folder));
}

/** Processes that were started in this folder, and run. */
export function workingIn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => linkOf(`/proc/${pid}/cwd`) === folder && runs(pid));
}

/** A process and all that descend from it. */
export function familyOf(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const parent = Number(/^PPid:\s*(\d+)/m.exec(textOf(`/proc/${name}/status`))?.[1] ?? 0);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const family = [pid];
  for (let i = 0; i < family.length; i++) family.push(...(children.get(family[i]!) ?? []));
  return family;
}

/** Whether it is a database server or an engine in a process of its own, and not a program that watches over one. */
export function isServerProcess(pid: number): boolean {
  return (
    /(postgres|mariadbd|mysqld)\b/.test(textOf(`/proc/${pid}/comm`)) ||
    textOf(`/proc/${pid}/cmdline`).includes('own-process-main')
  );
}

/** Whether a process runs; one that has ended and is not yet waited for does not. */
export function runs(pid: number): boolean {
  return /^State:\s*[^ZX]/m.test(textOf(`/proc/${pid}/status`));
}

/** Memory a process holds alone, in bytes: shared buffers of a server's processes would count many times. */
export function privateBytes(pid: number): number {
  const text = textOf(`/proc/${pid}/smaps_rollup`);
  const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(text)?.[1] ?? 0);
  return (kilobytes('Pss') || kilobytes('Rss')) * 1024;
}

/** Processor time of all processes that this one, or a child of it, has waited for. */
export function childrenCpuMs(): number {
  return cpuMs('self', 13);
}

/** Processor time of a process itself. */
export function cpuMsOf(pid: number): number {
  return cpuMs(String(pid), 11);
}

/** Processor time of a process, of those it has started and of those it has waited for. */
export function familyCpuMs(pid: number): number {
  return familyOf(pid).reduce((sum, each) => sum + cpuMs(String(each), 11) + cpuMs(String(each), 13), 0);
}

/** Two neighbouring fields of a process's statistics, user and system time, which count hundredths of a second on every Linux. */
function cpuMs(process: string, field: number): number {
  const fields = textOf(`/proc/${process}/stat`).split(') ').at(-1)?.split(' ') ?? [];
  return 10 * (Number(fields[field] ?? 0) + Number(fields[field + 1] ?? 0));
}

/** Processor time that all processes have used since the machine started, in seconds. */
export function busySeconds(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] =
    /^cpu +(.*)$/m.exec(textOf('/proc/stat'))?.[1]?.split(' ').map(Number) ?? [];
  return (user + nice + system + irq + softirq) / 100;
}

export function descriptors(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

function namesBelow(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true }).map(String);
  } catch {
    return [];
  }
}

/** Open sockets of a process. */
export function sockets(pid: number): number {
  try {
    const links = readdirSync(`/proc/${pid}/fd`).map((name) => linkOf(`/proc/${pid}/fd/${name}`));
    return links.filter((link) => link.startsWith('socket:')).length;
  } catch {
    return 0;
  }
}

/** Where a server that names the folder of its data on the command line keeps it. */
export function dataFolderOf(pid: number): string | undefined {
  return /\0--datadir=([^\0]+)/.exec(textOf(`/proc/${pid}/cmdline`))?.[1];
}

/** Bytes of all files below a folder. */
export function bytesIn(folder: string): number {
  let bytes = 0;
  for (const name of namesBelow(folder)) {
    try {
      bytes += statSync(join(folder, name)).size;
    } catch {
      // Gone in the meantime.
    }
  }
  return bytes;
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Waits until something holds; false if it does not within the limit. */
export async function until(holds: () => boolean, limitMs: number): Promise<boolean> {
  const end = performance.now() + limitMs;
  while (!holds()) {
    if (performance.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return true;
}
