/** npm, as far as versions of engines need it. It is the user's npm with the user's configuration: registry, proxy, credentials. */
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, IsoldeError } from '../../errors.js';
import { isVersion } from '../../versions.js';
import type { Environment } from './engine-cache.js';

export interface NpmOptions {
  readonly environment?: Environment;
  readonly signal?: AbortSignal;
}

/** The published versions of a package, as npm lists them. */
export async function publishedVersions(name: string, options: NpmOptions): Promise<string[]> {
  const printed = await runNpm(['view', name, 'versions', '--json'], process.cwd(), options);
  let versions: unknown;
  try {
    versions = JSON.parse(printed);
  } catch {
    versions = undefined;
  }
  const listed = typeof versions === 'string' ? [versions] : versions;
  if (!Array.isArray(listed)) throw new IsoldeError('connect', `npm lists no versions of ${name}`);
  return listed.filter((version): version is string => typeof version === 'string' && isVersion(version));
}

/**
 * Installs one version of a package into a folder that holds nothing else. Install scripts do not run: nothing of a package is
 * executed before it was checked. npm compares each package with the registry's checksum and writes that into its lock.
 */
export async function installPackage(
  folder: string,
  name: string,
  version: string,
  options: NpmOptions,
): Promise<void> {
  const manifest = { private: true, description: 'fetched by isolde', dependencies: { [name]: version } };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  // Spelt out, for what is set around us (npx, npm run, a user's configuration) must not change what is installed.
  const flags = [
    ['--prefix', folder],
    ['--global=false', '--location=project', '--workspaces=false', '--dry-run=false'],
    ['--package-lock=true', '--include=optional', '--omit=dev', '--install-strategy=hoisted'],
    ['--ignore-scripts', '--no-bin-links', '--no-audit', '--no-fund', '--no-update-notifier'],
    ['--loglevel=error'],
  ].flat();
  await runNpm(['install', ...flags], folder, options);
  await checkLock(folder, name, version);
}

/** Every package must have been compared with a checksum, and the one asked for must be there. */
async function checkLock(folder: string, name: string, version: string): Promise<void> {
  const text = await readFile(join(folder, 'package-lock.json'), 'utf8');
  const { packages = {} } = JSON.parse(text) as {
    readonly packages?: Readonly<
      Record<string, { readonly version?: unknown; readonly integrity?: unknown }>
    >;
  };
  const found = packages[`node_modules/${name}`];
  if (found?.version !== version)
    throw new IsoldeError('connect', `npm installed ${name} ${String(found?.version)} instead of ${version}`);
  for (const [path, { integrity }] of Object.entries(packages)) {
    if (path === '' || (typeof integrity === 'string' && /^sha(256|384|512)-/.test(integrity))) continue;
    throw new IsoldeError(
      'safety',
      `the registry gives no checksum for ${path.replace(/^.*node_modules\//, '')}; it is not used`,
    );
  }
}

/** Runs npm and gives what it prints. */
function runNpm(args: readonly string[], cwd: string, options: NpmOptions): Promise<string> {
  const { environment = process.env, signal } = options;
  return new Promise((resolve, reject) => {
    const child = spawn('npm', args, {
      cwd,
      env: { ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
      ...(signal !== undefined && { signal }),
    });
    let printed = '';
    let complaints = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      printed = (printed + chunk).slice(-50_000_000);
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      complaints = (complaints + chunk).slice(-4000);
    });
    child.once('error', (error: NodeJS.ErrnoException) => {
      const why =
        signal?.aborted === true
          ? 'it was stopped'
          : error.code === 'ENOENT'
            ? 'npm is not installed'
            : errorText(error);
      reject(new IsoldeError('connect', `Cannot run npm ${args[0]}: ${why}`, { cause: error }));
    });
    child.once('close', (code) => {
      if (code === 0) return resolve(printed);
      reject(
        new IsoldeError(
          'connect',
          `npm ${args.slice(0, 2).join(' ')} failed: ${lastLines(complaints, code)}`,
        ),
      );
    });
  });
}

function lastLines(text: string, code: number | null): string {
  const lines = text
    .split('\n')
    .map((line) => line.replace(/^npm (error|ERR!) ?/, '').trim())
    .filter((line) => line !== '' && !/^npm warn|complete log of this run/i.test(line));
  return lines.slice(0, 4).join(' ') || `exit code ${code}`;
}
