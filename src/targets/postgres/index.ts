export { postgresAvailable, postgresDriver } from './postgres-target.js';
export { type PrivateServer, type PrivateServerOptions, startPostgresServer } from './private-server.js';
