/**
 * The second table that Pisco's authors published: 36 columns, one row a report, its features and nothing else. Its first columns are engine, label, level,
 * mode and number of transactions; the 24 kinds of statements and five things of tables follow in the order of `features.ts`; its last one
 * is the report (`MySQL_113228`). The label is passed over. Flags that a row leaves empty are not known, and count as no.
 */
import { FileError } from '../errors.js';
import { parseCsv } from './csv.js';
import { idOfName, type KnownEntry } from './entry.js';
import { type Features, flags } from './features.js';
import { levelsIn, modeIn, placeOfStudy } from './study-csv.js';

const firstFlag = 5;
const columnCount = firstFlag + flags.length + 2;

/** Whether a CSV is this table. */
export function isFeatureTable(text: string): boolean {
  return /^\ufeff?Database,Duplicate ID,Isolation Level,Transaction Mode,# Transaction,/.test(text);
}

export function readFeatureTable(text: string, file: string): KnownEntry[] {
  const [, ...rows] = parseCsv(text, file);
  const entries = new Map<string, KnownEntry>();
  for (const { fields, line } of rows) {
    if (fields.length !== columnCount)
      throw new FileError({ file, line }, `expected ${columnCount} columns, found ${fields.length}`);
    const [, engine, number] = /^([A-Za-z]+)_(.+)$/.exec(fields.at(-1)!.trim()) ?? [];
    const place = placeOfStudy(engine ?? '');
    if (place === undefined || number === undefined)
      throw new FileError({ file, line, field: 'id' }, `"${fields.at(-1)}" names no report`);
    const name = /^[A-Z]+-/.test(number) ? number : `${place.prefix}${number}`;
    const entry: KnownEntry = {
      ...{ id: idOfName(name.replace('#', '')), name, engine: place.engine, status: 'open' },
      ...{ symptom: 'unknown', about: '', affected: [], fixed: [], features: featuresOf(fields) },
    };
    const before = entries.get(entry.id)?.features.has ?? [];
    const has = [...new Set([...before, ...entry.features.has])].sort();
    entries.set(entry.id, { ...entry, features: { ...entry.features, has } });
  }
  return [...entries.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function featuresOf(fields: readonly string[]): Features {
  const transactions = Number((fields[4] ?? '').trim() || Number.NaN);
  return {
    levels: levelsIn(fields[2] ?? ''),
    mode: modeIn(fields[3] ?? ''),
    ...(Number.isSafeInteger(transactions) && transactions > 0 && { transactions }),
    has: flags
      .filter((_, i) => !['', '-', 'no'].includes((fields[firstFlag + i] ?? '').trim().toLowerCase()))
      .sort(),
  };
}
