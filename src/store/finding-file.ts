/** `finding.json`: a finding as a file, validated on its way in. */
import { checkLevels, type Finding, type FindingKind, oracles } from '../check/index.js';
import { parseFindingKind } from '../contracts/index.js';
import { checkFormat, type JsonNode, optional, parseJson } from '../json.js';
import { readExplanation, readObservation, readPhrase } from './explanation-file.js';

const format = 'isolde-finding';
const version = 2;

export function printFinding(finding: Finding): string {
  return `${JSON.stringify({ format, version, ...finding }, null, 2)}\n`;
}

export function parseFinding(text: string, file: string): Finding {
  const node = parseJson(text, file);
  checkFormat(node, format, version);
  node.object([
    'format',
    'version',
    'kind',
    'oracle',
    'certainty',
    'assumes',
    'rulesOut',
    'contract',
    'clause',
    'transactions',
    'operations',
    'versions',
    'cycle',
    'explanation',
  ]);
  return {
    kind: readKind(node),
    oracle: node.at('oracle').oneOf(oracles.map(({ name }) => name)),
    certainty: node.at('certainty').oneOf(['proved', 'proved-by-search', 'probable']),
    ...optional('assumes', node.maybe('assumes', texts)),
    rulesOut: node
      .at('rulesOut')
      .items()
      .map((each) => each.oneOf(checkLevels)),
    ...optional('contract', node.maybe('contract', text_)),
    ...optional('clause', node.maybe('clause', text_)),
    transactions: node.at('transactions').items().map(readTransaction),
    operations: node.at('operations').items().map(readOperation),
    ...optional(
      'versions',
      node.maybe('versions', (list) => list.items().map(readVersion)),
    ),
    ...optional(
      'cycle',
      node.maybe('cycle', (list) => list.items().map(readEdge)),
    ),
    explanation: readExplanation(node.at('explanation')),
  };
}

/** In version 1 the mechanism verifier called a read of a version from after its snapshot `future-read`. */
function readKind(node: JsonNode): FindingKind {
  const at = node.at('kind');
  const text = at.text();
  const first = node.at('version').value === 1;
  if (first && text === 'future-read' && node.at('oracle').value === 'mechanism') return 'post-snapshot-read';
  return parseFindingKind(text) ?? at.fail(`there is no kind of finding called "${text}"`);
}

type Of<Key extends 'transactions' | 'operations' | 'versions' | 'cycle'> = NonNullable<Finding[Key]>[number];

function readTransaction(node: JsonNode): Of<'transactions'> {
  node.object(['id', 'name', 'session', 'status']);
  return {
    id: node.at('id').count(),
    name: node.at('name').text(),
    session: node.at('session').text(),
    status: node.at('status').oneOf(['committed', 'aborted', 'unknown']),
  };
}

function readOperation(node: JsonNode): Of<'operations'> {
  node.object(['index', 'transaction', 'text']);
  return {
    index: node.at('index').count(),
    transaction: node.at('transaction').count(),
    text: node.at('text').text(),
  };
}

function readVersion(node: JsonNode): Of<'versions'> {
  node.object(['operation', 'object', 'seen', 'allowed']);
  return {
    operation: node.at('operation').count(),
    object: node.at('object').text(),
    seen: readObservation(node.at('seen')),
    allowed: node.at('allowed').items().map(readObservation),
  };
}

function readEdge(node: JsonNode): Of<'cycle'> {
  node.object(['from', 'to', 'kind', 'object', 'fromOperation', 'toOperation', 'because']);
  return {
    from: node.at('from').count(),
    to: node.at('to').count(),
    kind: node.at('kind').oneOf(['ww', 'wr', 'rw', 'predicate-rw', 'session', 'real-time']),
    ...optional('object', node.maybe('object', text_)),
    ...optional(
      'fromOperation',
      node.maybe('fromOperation', (each) => each.count()),
    ),
    ...optional(
      'toOperation',
      node.maybe('toOperation', (each) => each.count()),
    ),
    because: readPhrase(node.at('because')),
  };
}

const text_ = (node: JsonNode): string => node.text();
const texts = (node: JsonNode): string[] => node.items().map(text_);
