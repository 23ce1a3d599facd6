/**
 * Drops statements of the set-up: tables nobody uses with everything that names them, then single statements (an index, an
 * INSERT). A table that a session or another statement of the set-up names is not even tried: its case cannot run.
 */
import { nameKey, parseStatement, tokenize, writtenNameKey } from '../../sql/index.js';
import { type Pass, type Proposal, withSetup } from './pass.js';

export const dropSetup: Pass = {
  name: 'drop tables and indexes',
  proposals(current, { dialect }) {
    const { setup, sessions } = current.case;
    const namesIn = (sql: string) =>
      new Set(tokenize(sql, dialect).map(({ text }) => writtenNameKey(text, dialect)));
    const names = setup.map(namesIn);
    const used = new Set(
      sessions.flatMap(({ statements }) => statements.flatMap((sql) => [...namesIn(sql)])),
    );
    const tables = setup.map((sql) => {
      const statement = parseStatement(sql, dialect);
      return statement.type === 'create-table' ? nameKey(statement.name, dialect) : undefined;
    });
    const drop = (gone: (at: number) => boolean): Proposal => {
      const left = setup.filter((_, at) => !gone(at));
      return () => (left.length === setup.length ? undefined : withSetup(current, left));
    };
    const unused = tables.filter((table) => table !== undefined && !used.has(table)) as readonly string[];
    const whole = [unused, ...(unused.length > 1 ? unused.map((table) => [table]) : [])].map((some) =>
      drop((at) => some.some((table) => names[at]!.has(table))),
    );
    const single = setup.flatMap((_, at) => {
      const table = tables[at];
      const isNamed =
        table !== undefined && (used.has(table) || names.some((all, i) => i !== at && all.has(table)));
      return isNamed ? [] : [drop((i) => i === at)];
    });
    return [...whole, ...single.toReversed()];
  },
};
