/** Loaded before a command that is measured (`node --import`): says on standard error what it took, when it ends. */
process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  process.stderr.write(
    `\nusage ${JSON.stringify({ cpuMs: (userCPUTime + systemCPUTime) / 1000, maxRssKb: maxRSS })}\n`,
  );
});
