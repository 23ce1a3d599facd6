export { sqliteAvailable, sqliteDriver } from './sqlite-target.js';
