/** Pieces that the stand-alone scripts of several engines share (`ReproDriver`). */

/** Reads the server's address from the command line, and names a scratch namespace. */
export const readAddress = (example: string): string => `
const url = process.argv[2] ?? process.env.DATABASE_URL;
if (url === undefined) {
  console.error('usage: node repro.mjs ${example}');
  process.exit(2);
}
const scratch = 'isolde_repro_' + process.pid + '_' + Date.now().toString(36);
`;

export const temporaryFile = `
const folder = mkdtempSync(join(tmpdir(), 'isolde-repro-'));
const file = join(folder, 'repro.db');
`;

export const temporaryImports = `import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';`;
