export { connectError } from './connect-error.js';
export { postgresAvailable, postgresDriver } from './postgres-target.js';
export { parseServerUrl, type ServerAddress } from './postgres-url.js';
export { type PrivateServer, type PrivateServerOptions, startPostgresServer } from './private-server.js';
export { loadPg } from './wire-connection.js';
