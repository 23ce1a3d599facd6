/**
 * Loads a database driver that is an npm package of the user's choosing: the usual one, or another version of it
 * installed under an alias (`npm install turso-0-4@npm:@tursodatabase/database@0.4.4`, then `?package=turso-0-4`).
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { errorText, IsoldeError } from '../../errors.js';

const packageName = /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;

/** The main module of a package, looked for beside the user's work first, then beside Isolde; or in one folder alone. */
export async function loadDriver(name: string, only?: string): Promise<Readonly<Record<string, unknown>>> {
  // Only a bare name: a URL must not be able to make us run an arbitrary file.
  if (!packageName.test(name)) {
    throw new IsoldeError('usage', `"${name}" is not the name of an npm package`);
  }
  const file = resolvePackage(name, only);
  if (file === undefined) {
    throw new IsoldeError('engine-missing', `The package "${name}" is not installed: npm install ${name}`);
  }
  try {
    return (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw new IsoldeError(
      'engine-missing',
      `The package "${name}" is installed but cannot be loaded (${errorText(cause)}). ` +
        'It may have no build for this platform; try: npm install --force',
      { cause },
    );
  }
}

/** Why a driver cannot be used, or undefined when it is installed. */
export function missingDriver(name: string): string | undefined {
  return resolvePackage(name) === undefined ? `the npm package ${name} is not installed` : undefined;
}

/** The version in the package's own package.json: the first above its main file that has one. */
export function packageVersion(name: string, only?: string): string {
  const main = resolvePackage(name, only);
  if (main === undefined) return 'unknown';
  for (let folder = dirname(main); folder !== dirname(folder); folder = dirname(folder)) {
    const version = versionIn(join(folder, 'package.json'));
    if (version !== undefined) return version;
  }
  return 'unknown';
}

function versionIn(manifest: string): string | undefined {
  try {
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version?: unknown };
    return typeof version === 'string' ? version : undefined;
  } catch {
    // No manifest in this folder: the package begins further up.
    return undefined;
  }
}

/** The main file of a package; undefined: it is not installed. */
export function resolvePackage(name: string, only?: string): string | undefined {
  for (const require of requires(only)) {
    try {
      return require.resolve(name);
    } catch {
      // Not installed here: the next place may have it.
    }
  }
  return undefined;
}

function requires(only: string | undefined): NodeJS.Require[] {
  if (only !== undefined) return [createRequire(join(only, 'package.json'))];
  return [createRequire(join(process.cwd(), 'package.json')), createRequire(import.meta.url)];
}
