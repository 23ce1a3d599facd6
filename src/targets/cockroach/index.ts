export { cockroachDriver } from './cockroach-target.js';
