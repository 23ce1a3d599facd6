export { type CachedVersion, cacheFolder, type Environment, listCached, whyBroken } from './engine-cache.js';
export {
  type FetchOptions,
  type FetchProgress,
  type FoundVersion,
  fetchVersion,
  findVersion,
  listLocal,
  listPublished,
  type PublishedVersion,
} from './find-version.js';
export { splitVersion, type VersionUrl, withVersion } from './version-url.js';
