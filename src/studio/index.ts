export { type Exported, type ExportOptions, exportSite } from './export-site.js';
export { type Studio, type StudioOptions, startStudio } from './server.js';
