/** What `scripts/engines` brings of TiDB: said by its declaration, and by what looks for its servers. */
import type { ScriptLine } from '../programs.js';

export const tidbLines: readonly ScriptLine[] = [
  { name: 'tidb', series: '8.5' },
  { name: 'tidb-old', series: '6.6' },
];
