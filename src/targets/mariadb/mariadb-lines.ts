/** What `scripts/engines` brings of MariaDB: said by its declaration, and by what looks for its servers. */
import type { ScriptLine } from '../programs.js';

export const mariadbLines: readonly ScriptLine[] = [{ name: 'mariadb-11.8', series: '11.8' }];
