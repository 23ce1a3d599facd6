/**
 * Every format Isolde reads, in the order in which a file is tried against them. Those that may hold SQL are loaded when a file is of them:
 * they bring the parser along.
 */
import { readAwdit } from './awdit.js';
import { isCobraLog, readCobra } from './cobra.js';
import { readDbcop, readDbcopJson } from './dbcop.js';
import { readEdn } from './edn.js';
import { readElleJson } from './elle-json.js';
import type { HistoryFormat } from './format.js';
import { readPlume } from './plume.js';
import {
  fitsAwdit,
  fitsCobra,
  fitsDbcop,
  fitsDbcopJson,
  fitsElleJson,
  fitsJepsen,
  fitsOwn,
  fitsPisco,
  fitsPlume,
  fitsViper,
  isPiscoTrace,
  isViperLog,
} from './recognize.js';
import { readViper } from './viper.js';

export const historyFormats: readonly HistoryFormat[] = [
  {
    name: 'isolde',
    title: 'Isolde history (*.history.jsonl)',
    fitsFile: fitsOwn,
    read: async (input) => (await import('./own.js')).readOwn(input),
  },
  {
    name: 'pisco',
    title: 'Pisco trace folder (trace/loader-*.json)',
    fitsFile: fitsPisco,
    fitsFolder: (entries) => entries.includes('trace') || entries.some(isPiscoTrace),
    read: async (input) => (await import('./pisco.js')).readPisco(input),
  },
  { name: 'dbcop-json', title: 'dbcop JSON', fitsFile: fitsDbcopJson, read: readDbcopJson },
  { name: 'elle-json', title: 'Elle JSON or JSON lines', fitsFile: fitsElleJson, read: readElleJson },
  {
    name: 'viper',
    title: 'Viper log folder (J*.log)',
    fitsFile: fitsViper,
    fitsFolder: (entries) => entries.some(isViperLog),
    read: readViper,
  },
  { name: 'jepsen', title: 'Jepsen EDN', fitsFile: fitsJepsen, read: readEdn },
  { name: 'plume', title: 'Plume or PolySI text', fitsFile: fitsPlume, read: readPlume },
  { name: 'awdit', title: 'AWDIT test text', fitsFile: fitsAwdit, read: readAwdit },
  {
    name: 'cobra',
    title: 'Cobra log folder (T*.log)',
    fitsFile: fitsCobra,
    fitsFolder: (entries) => entries.some(isCobraLog),
    read: readCobra,
  },
  { name: 'dbcop', title: 'dbcop bincode', fitsFile: fitsDbcop, read: readDbcop },
];
