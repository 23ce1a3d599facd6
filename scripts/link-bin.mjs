// Lets `npx isolde` run this checkout: npm links the commands of dependencies, not the package's own.
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';

const link = 'node_modules/.bin/isolde';
if (existsSync('node_modules') && process.platform !== 'win32') {
  mkdirSync('node_modules/.bin', { recursive: true });
  rmSync(link, { force: true });
  symlinkSync('../../dist/cli/main.js', link);
  if (existsSync('dist/cli/main.js')) chmodSync('dist/cli/main.js', 0o755);
}
