export { type ContractChoice, contractAt, usualChoice, vendorContract } from './contract-choice.js';
export { type HuntCounters, newCounters } from './counters.js';
export { Database, type DatabaseOptions, type Observed, type Trial } from './database.js';
export { type HuntEvent, type HuntOptions, type HuntResult, hunt, type Shelf, type Shelved } from './hunt.js';
export { type HuntName, type HuntState, HuntStateFile } from './hunt-state.js';
export { type Outcome, type Pursued, type PursueOptions, pursue, type Raw } from './pursue.js';
export { duration, renderBug, renderCounters } from './render.js';
export { groupSize, type Mode, type Round, type RoundOptions, Rounds } from './round.js';
export { type OpenShelf, openShelf, type ShelfOptions } from './shelf.js';
