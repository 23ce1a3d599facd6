export type { Anomaly } from './anomaly.js';
export type { Contract, ContractSource, Mechanism, Pivot } from './contract.js';
export { type Level, levels, parseLevel, shortLevel } from './level.js';
