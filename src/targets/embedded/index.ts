export { choose, type EmbeddedUrl, parseEmbeddedUrl } from './embedded-url.js';
export { loadDriver, missingDriver, packageVersion } from './load-driver.js';
