// npm leaves an optional package of another platform out of the lock file when the registry at hand does not have it,
// and `npm ci` then refuses the lock file everywhere. This adds the entries back: run it after `npm install` changes
// package-lock.json. Nothing is downloaded; on this platform the entries are passed over, as they should be.
import { readFileSync, writeFileSync } from 'node:fs';

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const systems = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const processors = [
  'arm',
  'arm64',
  'ia32',
  'loong64',
  'mips64el',
  'ppc64',
  'riscv64',
  's390x',
  'wasm32',
  'x64',
];
const libraries = { gnu: 'glibc', gnueabihf: 'glibc', gnueabi: 'glibc', musl: 'musl', musleabihf: 'musl' };

let added = 0;
for (const owner of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`;
    if (Object.hasOwn(lock.packages, path) || !/^\d/.test(version)) continue;
    const words = name.split('/').pop().split('-');
    const os = words.filter((word) => systems.includes(word));
    const cpu = words.filter((word) => processors.includes(word));
    const libc = words.flatMap((word) =>
      Object.hasOwn(libraries, word) && os.includes('linux') ? [libraries[word]] : [],
    );
    if (os.length === 0 && cpu.length === 0) continue;
    lock.packages[path] = {
      version,
      ...(cpu.length > 0 && { cpu }),
      ...(owner.dev && { dev: true }),
      ...(libc.length > 0 && { libc }),
      optional: true,
      ...(os.length > 0 && { os }),
    };
    added++;
  }
}
const [root, ...rest] = Object.entries(lock.packages);
rest.sort(([a], [b]) => a.localeCompare(b, 'en'));
lock.packages = Object.fromEntries([root, ...rest]);
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} entries added`);
