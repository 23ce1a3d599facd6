export { type Affected, affectedBy } from './affected.js';
export { bisectVersions } from './bisect.js';
export { type Cell, type CellOutcome, type CellResult, namePlace, type Place, versionTried } from './cell.js';
export { compareSubjects } from './compare-subjects.js';
export { readJournal, writeJournal } from './journal.js';
export { type PlacesOptions, placesOf } from './places.js';
export {
  type Bisected,
  bisectMatrix,
  type CellRequest,
  cellKey,
  type MatrixOptions,
  probeOf,
  runCells,
  runMatrix,
} from './run-matrix.js';
export {
  bugSubject,
  caseOf,
  digestOf,
  fileSubject,
  knownSubject,
  runSubject,
  type Subject,
} from './subject.js';
export { affectedTable, inOrderOf, legend, matrixTable } from './table.js';
