export { duckdbAvailable, duckdbDriver } from './duckdb-target.js';
