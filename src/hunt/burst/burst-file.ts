/**
 * `burst.json`: a burst that broke its fact, by the name of its program. It holds no SQL: whoever reads it runs what this Isolde has under
 * that name, or nothing.
 */
import { findContract, levels } from '../../contracts/index.js';
import { checkFormat, type JsonNode, optional, parseJson } from '../../json.js';
import { readTarget } from '../../store/index.js';
import type { BurstFinding, BurstRate } from './burst.js';
import { burstForms } from './burst-form.js';
import { burstPrograms } from './burst-programs.js';

const format = 'isolde-burst';
const version = 1;

export interface BurstFile extends BurstFinding {
  /** How often it was found. */
  readonly count: number;
  /** ISO 8601, UTC. */
  readonly firstSeen: string;
  readonly lastSeen: string;
}

export function printBurst(file: BurstFile): string {
  return `${JSON.stringify({ format, version, ...file }, null, 2)}\n`;
}

export function parseBurst(text: string, name: string): BurstFile {
  const node = parseJson(text, name);
  checkFormat(node, format, version);
  node.object([
    ...['format', 'version', 'program', 'form', 'fact', 'target', 'level', 'contract', 'clause', 'size'],
    ...['rate', 'serial', 'control', 'uncompared', 'reduced', 'verdict', 'count', 'firstSeen', 'lastSeen'],
  ]);
  const contract = node.at('contract');
  if (findContract(contract.text()) === undefined) contract.fail('no contract of this name is known');
  return {
    program: node.at('program').oneOf(burstPrograms.map((each) => each.name)),
    form: node.at('form').oneOf(burstForms),
    fact: node.at('fact').text(),
    target: readTarget(node.at('target')),
    level: node.at('level').oneOf(levels),
    contract: contract.text(),
    clause: node.at('clause').text(),
    size: readSize(node.at('size').object(['sessions', 'repeats'])),
    rate: readRate(node.at('rate').object(rateMembers)),
    serial: readRate(node.at('serial').object(rateMembers)),
    ...optional('control', node.maybe('control', readControl)),
    ...optional(
      'uncompared',
      node.maybe('uncompared', (why) => why.text()),
    ),
    reduced: {
      ...readSize(node.at('reduced').object(['sessions', 'repeats', 'without', 'rate'])),
      ...optional('without', node.at('reduced').maybe('without', readParts)),
      rate: readRate(node.at('reduced').at('rate').object(rateMembers)),
    },
    verdict: node.at('verdict').oneOf(['confirmed', 'once', 'not isolation']),
    count: node.at('count').count(),
    firstSeen: node.at('firstSeen').text(),
    lastSeen: node.at('lastSeen').text(),
  };
}

/** What nobody would run: a file must not make us open a million connections. */
const most = { sessions: 256, repeats: 100_000 };

function readSize(node: JsonNode): { readonly sessions: number; readonly repeats: number } {
  const upTo = (name: 'sessions' | 'repeats') => {
    const member = node.at(name);
    const count = member.count();
    return count >= 1 && count <= most[name] ? count : member.fail(`expected 1 to ${most[name]}`);
  };
  return { sessions: upTo('sessions'), repeats: upTo('repeats') };
}

/** Words for a command line, and no more of them than a program has parts. */
function readParts(node: JsonNode): readonly string[] {
  const parts = node.items().map((each) => each.text());
  return parts.length <= 16 && parts.every((part) => /^[a-z]+$/.test(part))
    ? parts
    : node.fail('expected names of parts');
}

function readControl(node: JsonNode): NonNullable<BurstFinding['control']> {
  return {
    ...optional(
      'by',
      node.maybe('by', (by) => by.text()),
    ),
    ...readRate(node.object([...rateMembers, 'by'])),
  };
}

const rateMembers = ['runs', 'broken', 'unknown', 'outcomes'];

function readRate(node: JsonNode): BurstRate {
  return {
    runs: node.at('runs').count(),
    broken: node.at('broken').count(),
    unknown: node.at('unknown').count(),
    outcomes: node
      .at('outcomes')
      .items()
      .map((each) => {
        each.object(['text', 'count']);
        return { text: each.at('text').text(), count: each.at('count').count() };
      }),
  };
}
