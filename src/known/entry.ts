/**
 * One known bug: what a tracker says of it, as facts. Entries are lines of `*.jsonl` files: `known/study.jsonl` and `known/own.jsonl` ship with the
 * package, a user's own folder has the same form. A case that shows the bug is a script of the entry's id in `cases/`.
 */
import { levels } from '../contracts/index.js';
import { type JsonNode, parseJson } from '../json.js';
import { type Features, flags, modes } from './features.js';

/** What a user of the database notices. */
export const symptoms = [
  'wrong-read', // a query returns what its level forbids
  'wrong-state', // what is stored is wrong
  'missing-wait', // a statement goes through that should wait or fail
  'needless-wait', // a statement waits that should not, or waits too long
  'unexpected-error',
  'missing-error',
  'crash', // the server dies, hangs, or fails one of its own assertions
  'internal', // logs, statistics, replication, performance
  'unknown',
] as const;
export type Symptom = (typeof symptoms)[number];

export const statuses = ['open', 'confirmed', 'fixed', 'closed', 'unfiled'] as const;
export type Status = (typeof statuses)[number];

export interface KnownEntry {
  /** `mysql-113228`, `mdev-26642`; also the name of its case. */
  readonly id: string;
  /** As people write it: `MySQL #113228`, `MDEV-26642`. */
  readonly name: string;
  /** `mysql`, `mariadb`, `tidb`, …, as targets are called. */
  readonly engine: string;
  /** Where it is filed; absent: nowhere yet. */
  readonly url?: string;
  readonly status: Status;
  readonly symptom: Symptom;
  /** In our words. */
  readonly about: string;
  readonly affected: readonly string[];
  readonly fixed: readonly string[];
  /** Settings it needs, as the target’s stamp names them: its case is run only where they hold. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Reports of one root cause carry the same name; absent: none is known to share it. */
  readonly bug?: string;
  readonly features: Features;
}

const idForm = /^[a-z0-9][a-z0-9.-]{0,79}$/;
/** Longer texts than this are no facts. */
const longest = 2000;
const mostItems = 100;

export function printEntry(entry: KnownEntry): string {
  return `${JSON.stringify(entry)}\n`;
}

/** The entries of a file of lines. */
export function parseEntries(text: string, file: string): KnownEntry[] {
  return text.split('\n').flatMap((line, i) => (line.trim() === '' ? [] : [readEntry(line, file, i + 1)]));
}

function readEntry(line: string, file: string, number: number): KnownEntry {
  const node = parseJson(line, file, number);
  node.object([
    'id',
    'name',
    'engine',
    'url',
    'status',
    'symptom',
    'about',
    'affected',
    'fixed',
    'settings',
    'bug',
    'features',
  ]);
  const url = node.maybe('url', webAddress);
  const bug = node.maybe('bug', short);
  const settings = node.maybe('settings', (map) =>
    Object.fromEntries(map.members().map((name) => [name, short(map.at(name))])),
  );
  return {
    id: entryId(node.at('id')),
    name: short(node.at('name')),
    engine: entryId(node.at('engine')),
    ...(url !== undefined && { url }),
    status: node.at('status').oneOf(statuses),
    symptom: node.at('symptom').oneOf(symptoms),
    about: short(node.at('about')),
    affected: list(node.at('affected')).map(short),
    fixed: list(node.at('fixed')).map(short),
    ...(settings !== undefined && { settings }),
    ...(bug !== undefined && { bug }),
    features: readFeatures(node.at('features')),
  };
}

function readFeatures(node: JsonNode): Features {
  node.object(['levels', 'mode', 'transactions', 'has']);
  const transactions = node.maybe('transactions', (each) => each.count());
  return {
    levels: list(node.at('levels')).map((each) => each.oneOf(levels)),
    mode: node.at('mode').oneOf(modes),
    ...(transactions !== undefined && { transactions }),
    has: list(node.at('has')).map((each) => each.oneOf(flags)),
  };
}

function entryId(node: JsonNode): string {
  const id = node.text();
  return idForm.test(id) ? id : node.fail('expected small letters, digits, dots and hyphens, at most 80');
}

function webAddress(node: JsonNode): string {
  const url = short(node);
  return /^https?:\/\/[^\s"'<>`\\]+$/.test(url) ? url : node.fail('expected an address with http or https');
}

function short(node: JsonNode): string {
  const text = node.text();
  return text.length <= longest ? text : node.fail(`it is longer than ${longest} characters`);
}

function list(node: JsonNode): JsonNode[] {
  const items = node.items();
  return items.length <= mostItems ? items : node.fail(`it has more than ${mostItems} items`);
}

/** An id made of a report's name. */
export function idOfName(name: string): string {
  const words = name.toLowerCase().replaceAll(/[^a-z0-9.]+/g, '-');
  return words.replaceAll(/^[-.]+|-+$/g, '').slice(0, 80) || 'report';
}
