/** What an engine has for the statements that instrumentation adds, where it differs from its dialect: from its declaration. */
import { findDeclaration } from '../../targets/index.js';

export interface EngineWords {
  /** The database has DELETE … RETURNING. Default: yes, except in MySQL's family, where only MariaDB has it. */
  readonly returning?: boolean;
  /** The database has SELECT … FOR UPDATE, which keeps rows as they are until the transaction ends. Default: as most engines of the dialect. */
  readonly rowLocks?: boolean;
  /** It has an aggregate that joins texts, by which one column names many rows. Default: yes. */
  readonly joinsTexts?: boolean;
  /** SQL for a text that no other row gets. Default: the dialect's. */
  readonly uniqueText?: string;
  /** The type of the columns for marks; default: the dialect's for long texts. */
  readonly textType?: string;
}

/** `name`: of a target; one that is not declared has what its dialect has. */
export function engineWords(name: string): EngineWords {
  const declared = findDeclaration(name);
  if (declared === undefined) return {};
  const { longText, uniqueText, deletesReturn, joinsNoTexts, generation } = declared;
  const has = (feature: string) => generation?.unsupported.includes(feature) !== true;
  return {
    returning: deletesReturn ?? has('write.returning'),
    rowLocks: has('lock.update'),
    joinsTexts: joinsNoTexts !== true,
    ...(uniqueText && { uniqueText }),
    ...(longText && { textType: longText }),
  };
}
