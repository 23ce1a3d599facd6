/** The first line of a history file: what the operations after it were run on. */
import { caseDialects } from '../cases/index.js';
import { levels } from '../contracts/index.js';
import { checkFormat, type JsonNode, parseJson } from '../json.js';
import type { HistoryHeader, TargetStamp } from './history.js';

export const historyFormat = 'isolde-history';
export const historyVersion = 1;

const fields = [
  'sessions',
  'nodes',
  'target',
  'level',
  'sessionLevels',
  'dialect',
  'setup',
  'case',
  'replay',
  'seed',
  'omitted',
] as const;

/** What the header line holds, in the order of its fields. */
export function headerData(header: HistoryHeader): Readonly<Record<string, unknown>> {
  const ordered: Record<string, unknown> = { format: historyFormat, version: historyVersion };
  for (const field of fields) ordered[field] = header[field];
  return ordered;
}

/** Reads and validates the header line. */
export function parseHeader(line: string, file: string): HistoryHeader {
  const node = parseJson(line, file);
  checkFormat(node, historyFormat, historyVersion);
  node.object(['format', 'version', ...fields]);
  const header: HistoryHeader = {
    sessions: node
      .at('sessions')
      .items()
      .map((name) => name.text()),
    ...optional(
      'nodes',
      node.maybe('nodes', (nodes) => nodes.items().map((name) => name.text())),
    ),
    ...optional('target', node.maybe('target', readTarget)),
    ...optional(
      'level',
      node.maybe('level', (level) => level.oneOf(levels)),
    ),
    ...optional(
      'sessionLevels',
      node.maybe('sessionLevels', (each) => readRecord(each, (level) => level.oneOf(levels))),
    ),
    ...optional(
      'dialect',
      node.maybe('dialect', (dialect) => dialect.oneOf(caseDialects)),
    ),
    ...optional(
      'setup',
      node.maybe('setup', (setup) => setup.items().map((sql) => sql.text())),
    ),
    ...optional(
      'case',
      node.maybe('case', (name) => name.text()),
    ),
    ...optional(
      'replay',
      node.maybe('replay', (text) => text.text()),
    ),
    ...optional(
      'seed',
      node.maybe('seed', (text) => text.text()),
    ),
    ...optional(
      'omitted',
      node.maybe('omitted', (each) => each.items().map((reason) => reason.text())),
    ),
  };
  checkSessions(node, header);
  return header;
}

function readTarget(node: JsonNode): TargetStamp {
  node.object(['name', 'version', 'url', 'settings']);
  return {
    name: node.at('name').text(),
    version: node.at('version').text(),
    ...optional(
      'url',
      node.maybe('url', (url) => url.text()),
    ),
    ...optional(
      'settings',
      node.maybe('settings', (each) => readRecord(each, (setting) => setting.text())),
    ),
  };
}

function readRecord<T>(node: JsonNode, read: (each: JsonNode) => T): Record<string, T> {
  return Object.fromEntries(node.members().map((name) => [name, read(node.at(name))]));
}

function checkSessions(node: JsonNode, header: HistoryHeader): void {
  const seen = new Set<string>();
  header.sessions.forEach((name, s) => {
    if (seen.has(name)) {
      node
        .at('sessions')
        .items()
        [s]!.fail(`two sessions are named ${JSON.stringify(name)}`);
    }
    seen.add(name);
  });
  if (header.nodes !== undefined && header.nodes.length !== header.sessions.length)
    node.at('nodes').fail(`there are ${header.sessions.length} sessions, each on one node`);
  for (const number of Object.keys(header.sessionLevels ?? {})) {
    if (!/^(0|[1-9]\d*)$/.test(number) || Number(number) >= header.sessions.length) {
      node
        .at('sessionLevels')
        .at(number)
        .fail(`there is no session ${number}; sessions are 0 to ${header.sessions.length - 1}`);
    }
  }
}

function optional<K extends string, T>(key: K, value: T | undefined): { [key in K]?: T } {
  return value === undefined ? {} : ({ [key]: value } as { [key in K]: T });
}
