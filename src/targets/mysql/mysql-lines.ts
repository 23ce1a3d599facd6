/** What `scripts/engines` brings of MySQL: said by its declaration, and by what looks for its servers. */
import type { ScriptLine } from '../programs.js';

export const mysqlLines: readonly ScriptLine[] = [
  { name: 'mysql', series: '9' },
  { name: 'mysql-5.6', series: '5.6' },
];
