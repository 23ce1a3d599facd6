/**
 * `bug.json`: what is known of a bug besides its case, finding and histories, which have files of their own; and the lines
 * of `runs.jsonl`, one for each time it was found or tried again.
 */
import { levels } from '../contracts/index.js';
import type { TargetStamp } from '../histories/index.js';
import { checkFormat, type JsonNode, optional, parseJson } from '../json.js';
import type { KnownVerdict } from '../known/index.js';
import type { Bug, BugVariant, RawSize, Reproduced, SecondLook, VersionTried } from '../report/index.js';

const format = 'isolde-bug';
const version = 1;

/** A bug without its case, schedule, finding, history and runs. */
export type BugRecord = Omit<Bug, 'case' | 'schedule' | 'finding' | 'history' | 'versions'>;

export function recordOf(bug: Bug): BugRecord {
  const { case: _case, schedule, finding, history, versions, ...record } = bug;
  return record;
}

/** `signedBy`: the version of signatures it was signed with, where that is known. */
export function printRecord({ behaviour, ...record }: BugRecord, signedBy?: number): string {
  const fields = { format, version, ...record, behaviour: behaviour.split('\n'), signedBy };
  return `${JSON.stringify(fields, null, 2)}\n`;
}

export function parseRecord(text: string, file: string): BugRecord {
  return parseSignedRecord(text, file).record;
}

/** A record, and the version of signatures it was signed with; undefined: an older release's. */
export function parseSignedRecord(
  text: string,
  file: string,
): { readonly record: BugRecord; readonly signedBy: number | undefined } {
  const node = parseJson(text, file);
  checkFormat(node, format, version);
  node.object([
    'format',
    'version',
    'id',
    'title',
    'target',
    'level',
    'contract',
    'clause',
    'sources',
    'signature',
    'behaviour',
    'known',
    'reproduced',
    'seed',
    'replay',
    'raw',
    'count',
    'variants',
    'secondLook',
    'notIsolation',
    'environment',
    'firstSeen',
    'lastSeen',
    'signedBy',
  ]);
  const signedBy = node.maybe('signedBy', (each) => each.count());
  const record: BugRecord = {
    id: node.at('id').text(),
    title: node.at('title').text(),
    target: readTarget(node.at('target')),
    level: node.at('level').oneOf(levels),
    ...optional('contract', node.maybe('contract', text_)),
    clause: node.at('clause').text(),
    sources: node
      .at('sources')
      .items()
      .map((source) => {
        source.object(['clause', 'title', 'url']);
        return {
          clause: source.at('clause').text(),
          title: source.at('title').text(),
          url: source.at('url').text(),
        };
      }),
    signature: node.at('signature').text(),
    behaviour: node.at('behaviour').items().map(text_).join('\n'),
    ...optional('known', node.maybe('known', readKnown)),
    reproduced: readReproduced(node.at('reproduced').object(['shown', 'runs'])),
    ...optional('seed', node.maybe('seed', text_)),
    replay: node.at('replay').text(),
    ...optional('environment', node.maybe('environment', text_)),
    ...optional('raw', node.maybe('raw', readSize)),
    count: node.at('count').count(),
    ...optional('secondLook', node.maybe('secondLook', readLooks)),
    ...(node.maybe('notIsolation', (each) => each.value === true || each.fail('expected true')) === true && {
      notIsolation: true,
    }),
    ...optional('variants', node.maybe('variants', readVariants)),
    firstSeen: readTime(node.at('firstSeen')),
    lastSeen: readTime(node.at('lastSeen')),
  };
  return { record, signedBy };
}

/** One line of `runs.jsonl`. */
export type RunLine =
  | { readonly kind: 'found'; readonly at: string; readonly target: TargetStamp; readonly seed?: string }
  | ({ readonly kind: 'rerun' } & VersionTried);

export function printRun(run: RunLine): string {
  return `${JSON.stringify(run)}\n`;
}

/** The runs of a file. A line that was cut off by a kill is left out. */
export function parseRuns(text: string, file: string): RunLine[] {
  const lines = text.split('\n');
  return lines.flatMap((line, i): RunLine[] => {
    if (line.trim() === '' || isCut(line)) return [];
    const node = parseJson(line, file, i + 1);
    node.members();
    const at = readTime(node.at('at'));
    const target = readTarget(node.at('target'));
    if (node.at('kind').oneOf(['found', 'rerun']) === 'found') {
      node.object(['kind', 'at', 'target', 'seed']);
      return [{ kind: 'found', at, target, ...optional('seed', node.maybe('seed', text_)) }];
    }
    node.object(['kind', 'at', 'target', 'outcome', 'shown', 'runs']);
    const outcome = node.at('outcome').oneOf(['alive', 'fixed', 'changed', 'not-run']);
    return [{ kind: 'rerun', at, target, outcome, ...readReproduced(node) }];
  });
}

/** A line that was being written when the process died: its braces are not closed, or it ends inside a text. */
function isCut(line: string): boolean {
  if (!line.startsWith('{')) return false;
  const withoutTexts = line.replaceAll(/"(?:[^"\\]|\\.)*"/g, '');
  if (withoutTexts.includes('"')) return true;
  return withoutTexts.split('{').length > withoutTexts.split('}').length;
}

/** Reads a target's stamp, which may be a stranger's. */
export function readTarget(node: JsonNode): TargetStamp {
  node.object(['name', 'version', 'url', 'settings']);
  const settings = node.maybe('settings', (map) =>
    Object.fromEntries(map.members().map((name) => [name, map.at(name).text()])),
  );
  return {
    name: node.at('name').text(),
    version: node.at('version').text(),
    ...optional('url', node.maybe('url', text_)),
    ...optional('settings', settings),
  };
}

function readLooks(node: JsonNode): readonly SecondLook[] {
  return node.items().map((look) => {
    look.object(['by', 'says', 'note']);
    return {
      by: look.at('by').text(),
      says: look.at('says').oneOf(['agrees', 'not isolation', 'undecided']),
      note: look.at('note').text(),
    };
  });
}

function readKnown(node: JsonNode): KnownVerdict {
  node.object(['verdict', 'reports', 'why']);
  return {
    verdict: node.at('verdict').oneOf(['duplicate', 'unique', 'undecided']),
    reports: node
      .at('reports')
      .items()
      .map((each) => {
        each.object(['id', 'name', 'url', 'why']);
        return {
          id: each.at('id').text(),
          name: each.at('name').text(),
          ...optional('url', each.maybe('url', text_)),
          why: each.at('why').text(),
        };
      }),
    why: node.at('why').text(),
  };
}

function readReproduced(node: JsonNode): Reproduced {
  return { shown: node.at('shown').count(), runs: node.at('runs').count() };
}

function readVariants(node: JsonNode): BugVariant[] {
  return node.items().map((item) => {
    item.object(['variant', 'kind', 'count']);
    return {
      variant: item.at('variant').text(),
      kind: item.at('kind').text(),
      count: item.at('count').count(),
    };
  });
}

function readSize(node: JsonNode): RawSize {
  node.object(['sessions', 'transactions', 'operations']);
  return {
    sessions: node.at('sessions').count(),
    transactions: node.at('transactions').count(),
    operations: node.at('operations').count(),
  };
}

function readTime(node: JsonNode): string {
  const time = node.text();
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(time)
    ? time
    : node.fail(`expected a time like 2026-01-31T12:00:00.000Z, found ${JSON.stringify(time)}`);
}

const text_ = (node: JsonNode): string => node.text();
