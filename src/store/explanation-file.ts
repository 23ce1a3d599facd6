/**
 * Explanations and observations of `finding.json`, validated on their way in. Version 1 kept both as text; what it says is
 * kept as data of unknown meaning.
 */
import {
  type Observation,
  type Phrase,
  type Piece,
  type RowCount,
  type Step,
  stepReasons,
} from '../check/index.js';
import { type JsonNode, optional } from '../json.js';

export function readExplanation(node: JsonNode): readonly Step[] {
  if (typeof node.value === 'string') {
    return node.value.split('\n').map((data): Step => ({ reason: 'fact', says: [{ data }] }));
  }
  return node.items().map((each) => {
    each.object(['reason', 'says']);
    return { reason: each.at('reason').oneOf(stepReasons), says: readPhrase(each.at('says')) };
  });
}

export function readPhrase(node: JsonNode): Phrase {
  return typeof node.value === 'string' ? [{ data: node.value }] : node.items().map(readPiece);
}

function readPiece(node: JsonNode): Piece {
  if (typeof node.value === 'string') return node.value;
  const members = node.members();
  if (members.includes('transaction')) return readTransactionRef(node.object(['transaction', 'name']));
  if (members.includes('operation')) {
    node.object(['operation', 'sql']);
    return { operation: node.at('operation').count(), sql: node.at('sql').text() };
  }
  if (members.includes('version')) return readVersionRef(node);
  if (members.includes('when')) {
    node.object(['when']);
    return { when: readSpan(node.at('when')) };
  }
  if (members.includes('source')) {
    const source = node.object(['source']).at('source').object(['title', 'url']);
    return { source: { title: source.at('title').text(), url: source.at('url').text() } };
  }
  if (members.includes('row')) return { row: node.object(['row']).at('row').text() };
  return { data: node.object(['data']).at('data').text() };
}

function readTransactionRef(node: JsonNode): { readonly transaction: number; readonly name?: string } {
  const name = node.maybe('name', (each) => each.text());
  return { transaction: node.at('transaction').count(), ...(name === undefined ? {} : { name }) };
}

function readVersionRef(node: JsonNode): Piece {
  node.object(['version', 'writer', 'committed', 'deleted', 'doubtful']);
  const writer = node.maybe('writer', (each) => ({
    ...readTransactionRef(each.object(['transaction', 'name', 'fate'])),
    fate: each.at('fate').oneOf(['committed', 'aborted', 'unknown']),
  }));
  const committed = node.maybe('committed', readSpan);
  return {
    version: node.at('version').text(),
    ...(writer === undefined ? {} : { writer }),
    ...(committed === undefined ? {} : { committed }),
    ...(node.at('deleted').value === true ? { deleted: true } : {}),
    ...(node.at('doubtful').value === true ? { doubtful: true } : {}),
  };
}

function readSpan(node: JsonNode): { readonly start: number | null; readonly end: number | null } {
  node.object(['start', 'end']);
  const time = (at: JsonNode): number | null => {
    if (at.value === null || (typeof at.value === 'number' && Number.isFinite(at.value))) return at.value;
    return at.fail('expected a time or null');
  };
  return { start: time(node.at('start')), end: time(node.at('end')) };
}

/** Earlier files hold the numbers as text: `2`, `1 to 3`. */
function readRowCount(node: JsonNode): RowCount {
  if (typeof node.value === 'number') return node.count();
  const [least, most, ...others] =
    typeof node.value === 'string'
      ? node.value.split(' to ').map(Number)
      : node.items().map((each) => each.count());
  const isCount = (each: number | undefined): boolean => Number.isSafeInteger(each) && each! >= 0;
  if (!isCount(least) || others.length > 0)
    return node.fail('expected a number of rows, or the least and the most');
  if (most === undefined) return least!;
  return isCount(most) ? [least!, most] : node.fail('expected the least and the most number of rows');
}

export function readObservation(node: JsonNode): Observation {
  if (typeof node.value === 'string') {
    return node.value === 'no row' ? { as: 'absent' } : { as: 'values', text: node.value };
  }
  node.object(['as', 'text', 'width', 'count', 'mode', 'transaction', 'name']);
  const as = node
    .at('as')
    .oneOf([
      'values',
      'absent',
      'matched',
      'written',
      'not-written',
      'conflict-error',
      'wait',
      'lock',
      'before-commit',
      'after-commit',
    ]);
  switch (as) {
    case 'values':
      return {
        as,
        text: node.at('text').text(),
        ...optional(
          'width',
          node.maybe('width', (each) => each.count()),
        ),
      };
    case 'matched':
      return { as, count: readRowCount(node.at('count')) };
    case 'lock':
      return { as, mode: node.at('mode').oneOf(['share', 'exclusive']) };
    case 'before-commit':
    case 'after-commit':
      return { as, transaction: node.at('transaction').count(), name: node.at('name').text() };
    default:
      return { as };
  }
}
