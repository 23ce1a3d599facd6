export { postgresAvailable, postgresDriver } from './postgres-target.js';
