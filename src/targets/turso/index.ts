export { tursoAvailable, tursoDriver } from './turso-target.js';
