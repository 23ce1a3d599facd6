import { noLocks, type TargetDeclaration } from '../declaration.js';
import { count, privateUrlWith } from '../private-url.js';
import { duckdbRepro } from './duckdb-repro.js';

export const duckdbDeclaration: TargetDeclaration = {
  name: 'duckdb',
  title: 'DuckDB',
  homePage: 'https://github.com/duckdb/duckdb/issues',
  schemes: ['duckdb'],
  usage: 'duckdb:  or  duckdb:FILE  (embedded; the default)',
  dialect: 'duckdb',
  generation: {
    unsupported: [...noLocks, 'begin.snapshot', 'begin.immediate', 'index.partial', 'statement.savepoint'],
    generated: 'virtual',
    shareLock: 'share',
    errorDoomsTransaction: true,
    plainParents: true,
  },
  bugForm: [
    { title: 'What happens?', content: ['description'] },
    { title: 'To Reproduce', content: ['steps'] },
    { title: 'OS', content: ['client-os'] },
    { title: 'DuckDB Version', content: ['version'] },
    { title: 'DuckDB Client', content: [{ text: 'Node.js (`@duckdb/node-api`)' }] },
  ],
  reproDriver: duckdbRepro,
  privateUrl: privateUrlWith('duckdb', [{ setting: 'threads', usual: '1', accepts: count }]),
  settings: { threads: ['1', '4'] },
  releases: {
    package: '@duckdb/node-api',
    engineVersion: (version) => version.replace(/-(?:alpha|r)\.\d+$/, ''),
  },
  load: async () => (await import('./index.js')).duckdbDriver,
};
