/** URLs that name a private or embedded engine and nothing else: what may be opened, or shown as a command, on the word of somebody else. */
import type { TargetDeclaration } from './declaration.js';
import { declarationOfScheme } from './declarations.js';
import { parseFault } from './faults/index.js';
import { splitFault } from './registry.js';

/** Parameters that choose among behaviours of an engine, and can do nothing else, besides those of its own table of settings. */
const harmless: ReadonlySet<string> = new Set([
  'process',
  'mode',
  'journal',
  'engine',
  'tx',
  'default_transaction_isolation',
  'transaction_isolation',
  'innodb_snapshot_isolation',
]);

/**
 * The engine of a URL that names a private or embedded one and nothing else, with its version where the URL has one (`duckdb@1.1.3`);
 * undefined: it names more.
 */
export function privateEngine(url: string): string | undefined {
  const { engineUrl, fault } = splitFault(url);
  const [, scheme = '', version = '', query = ''] =
    /^([a-z][a-z0-9]*)(@[\w.+-]{1,40})?:(?:\?([\w=&.%+ -]*))?$/i.exec(engineUrl) ?? [];
  const declared = declarationOfScheme(scheme);
  if (declared === undefined || declared.name === 'exec' || declared.name === 'jdbc') return undefined;
  for (const [name, value] of new URLSearchParams(query))
    if (!isHarmless(name, value, declared)) return undefined;
  if (fault !== undefined) parseFault(fault);
  return `${declared.name}${version}`;
}

function isHarmless(name: string, value: string, { settings = {} }: TargetDeclaration): boolean {
  if (harmless.has(name)) return /^[\w -]*$/.test(value);
  const known = Object.hasOwn(settings, name) ? settings[name]! : [];
  // A job does not say how much of a machine it takes: of other numbers only small ones.
  return known.includes(value) || (known.some((each) => number.test(each)) && number.test(value));
}

const number = /^\d{1,2}$/;
