/** Imported first: an older Node would fail somewhere with a message about a missing function. */
const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 20) {
  process.stderr.write(`isolde: Node ${process.versions.node} is too old; Isolde needs Node 20 or later\n`);
  process.exit(3);
}
