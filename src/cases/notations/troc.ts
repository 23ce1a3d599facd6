/**
 * The case files of Troc and DT2: set-up statements, a blank line, an isolation level and the statements of each
 * transaction with blank lines between them, a schedule `1-1-2-2-1` of transaction numbers, `END`.
 */
import { parseLevel } from '../../contracts/index.js';
import { FileError } from '../../errors.js';
import { splitStatements } from '../../sql/index.js';
import type { ScheduledCase } from '../schedule.js';
import { CaseDraft, lineAt, type Notation, type NotationContext } from './draft.js';

export const troc: Notation = {
  name: 'Troc case',
  example: '1-1-2-2-1',
  recognise: (text) => schedule.test(text),
  read: readTroc,
};

/** Transactions have small numbers; `2024-02-29` is a date. */
const schedule = /^[ \t]*\d{1,2}(-\d{1,2})+[ \t]*$/m;

function readTroc(text: string, context: NotationContext): ScheduledCase {
  const draft = new CaseDraft({ ...context, dialect: context.dialect ?? 'mysql' });
  const order = schedule.exec(text)!;
  const fail = (problem: string): never => {
    throw new FileError({ file: context.file, line: lineAt(text, order.index), field: 'schedule' }, problem);
  };
  const blocks = text
    .slice(0, order.index)
    .split(/\r?\n[ \t]*(?:\r?\n[ \t]*)+/)
    .map((block) => block.trim())
    .filter((block) => block !== '');
  for (const { sql } of splitStatements(statementLines(blocks[0] ?? ''), draft.dialect)) draft.addSetup(sql);
  const transactions = blocks.slice(1).flatMap((block) => {
    const [first, ...rest] = block.split(/\r?\n/);
    const level = parseLevel(first!.replace(/^.*:/, ''));
    const lines = level === undefined ? block : rest.join('\n');
    const statements = splitStatements(statementLines(lines), draft.dialect).map(({ sql }) => sql);
    if (statements.length === 0) {
      draft.level = level;
      return [];
    }
    return [{ level, statements, next: 0 }];
  });
  for (const number of order[0].trim().split('-').map(Number)) {
    const transaction = transactions[number - 1];
    const sql = transaction?.statements[transaction.next++];
    if (sql === undefined) fail(`transaction ${number} has no more statements to send`);
    draft.add(`T${number}`, sql!);
  }
  transactions.forEach((transaction, t) => {
    if (transaction.next < transaction.statements.length) {
      fail(
        `it leaves out ${transaction.statements.length - transaction.next} statements of transaction ${t + 1}`,
      );
    }
    if (transaction.level !== undefined) draft.setLevel(`T${t + 1}`, transaction.level);
  });
  return draft.build();
}

/** These files end a statement with its line; a semicolon is optional. */
function statementLines(block: string): string {
  return block.replaceAll(/;?[ \t]*(\r?\n|$)/g, ';\n');
}
