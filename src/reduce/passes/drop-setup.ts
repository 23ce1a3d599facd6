/** Drops statements of the set-up: a table with everything that names it, then single statements (an index, an INSERT). */
import { parseStatement, tokenize } from '../../sql/index.js';
import { type Pass, type Proposal, withSetup } from './pass.js';

export const dropSetup: Pass = {
  name: 'drop tables and indexes',
  proposals(current, { dialect }) {
    const { setup } = current.case;
    const names = setup.map((sql) => new Set(tokenize(sql, dialect).map(({ text }) => bare(text))));
    const whole = setup.flatMap((sql): Proposal[] => {
      const statement = parseStatement(sql, dialect);
      if (statement.type !== 'create-table') return [];
      const name = statement.name.toLowerCase();
      return [
        () =>
          withSetup(
            current,
            setup.filter((_, i) => !names[i]!.has(name)),
          ),
      ];
    });
    const single = setup.map(
      (_, at) => () =>
        withSetup(
          current,
          setup.filter((_, i) => i !== at),
        ),
    );
    return [...whole, ...single.toReversed()];
  },
};

/** A name without its quotes. */
function bare(token: string): string {
  return token.replace(/^["`[](.*)["`\]]$/s, '$1').toLowerCase();
}
