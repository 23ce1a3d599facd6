// The lock file pins every package by the hash of its content, on every platform, and names no place to download from: what
// `npm ci` installs anywhere is what was tested here. A package without a hash is one the registry at hand did not have when
// the lock file was written; choose a version it has for all platforms.
import { readFileSync } from 'node:fs';

const { packages } = JSON.parse(readFileSync(process.argv[2] ?? 'package-lock.json', 'utf8'));
const problems = Object.entries(packages).flatMap(([path, { version, integrity, resolved, link }]) => {
  if (path === '' || link === true) return [];
  const found = [];
  if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''))
    found.push(`${path} ${version} has no sha512 hash`);
  // Where packages come from is the business of whoever installs them.
  if (resolved !== undefined) found.push(`${path} ${version} is to be downloaded from ${resolved}`);
  return found;
});
if (problems.length > 0) {
  console.error(`package-lock.json:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
  process.exit(1);
}
