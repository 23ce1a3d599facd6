/** `*.capabilities.json`: what was learned about a target, kept for the next run. */
import { levels } from '../contracts/index.js';
import { checkFormat, type JsonNode, parseJson, showFound } from '../json.js';
import type { Dialect } from '../sql/index.js';
import { indexKinds } from '../targets/index.js';
import type { Capabilities } from './capabilities.js';
import { allFeatures, type Feature } from './features.js';

const format = 'isolde-capabilities';
const version = 1;
const dialects: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];

/** The text of a capabilities file; `parseCapabilities` gives the same data back. */
export function printCapabilities(capabilities: Capabilities): string {
  return `${JSON.stringify({ format, version, ...capabilities }, undefined, 2)}\n`;
}

/** Reads and validates the text of a capabilities file. */
export function parseCapabilities(text: string, file: string): Capabilities {
  const node = parseJson(text, file);
  checkFormat(node, format, version);
  node.object([
    'format',
    'version',
    'target',
    'dialect',
    'unsupported',
    'proven',
    'generated',
    'shareLock',
    'errorDoomsTransaction',
    'plainParents',
    'explicitKeys',
    'oneRow',
    'automaticKeys',
    'indexes',
    'plainDefaults',
    'begins',
    'readers',
  ]);
  const features = (list: JsonNode): Feature[] => list.items().map((each) => each.oneOf(allFeatures));
  const proven = node.maybe('proven', features);
  const plainParents = node.maybe('plainParents', flag) === true;
  const explicitKeys = node.maybe('explicitKeys', flag) === true;
  const oneRow = node.maybe('oneRow', (each) => each.text());
  const automaticKeys = node.maybe('automaticKeys', (list) => list.items().map((each) => each.text()));
  const indexes = node.maybe('indexes', (list) => list.items().map((each) => each.oneOf(indexKinds)));
  const plainDefaults = node.maybe('plainDefaults', flag) === true;
  const begins = node.maybe('begins', readBegins);
  const readers = node.maybe('readers', flag) === true;
  return {
    target: node.at('target').text(),
    dialect: node.at('dialect').oneOf(dialects),
    unsupported: features(node.at('unsupported')),
    ...(proven === undefined ? {} : { proven }),
    generated: node.at('generated').oneOf(['stored', 'virtual']),
    shareLock: node.at('shareLock').oneOf(['share', 'share mode']),
    errorDoomsTransaction: flag(node.at('errorDoomsTransaction')),
    ...(plainParents ? { plainParents } : {}),
    ...(explicitKeys ? { explicitKeys } : {}),
    ...(oneRow === undefined ? {} : { oneRow }),
    ...(automaticKeys === undefined ? {} : { automaticKeys }),
    ...(indexes === undefined ? {} : { indexes }),
    ...(plainDefaults ? { plainDefaults } : {}),
    ...(begins === undefined ? {} : { begins }),
    ...(readers ? { readers } : {}),
  };
}

function readBegins(node: JsonNode): NonNullable<Capabilities['begins']> {
  node.object(levels);
  return Object.fromEntries(
    levels.flatMap((level) => node.maybe(level, (each) => [[level, each.text()]]) ?? []),
  );
}

function flag(node: JsonNode): boolean {
  if (typeof node.value === 'boolean') return node.value;
  return node.fail(`expected true or false, found ${showFound(node.value)}`);
}
