import { describe, expect, it } from 'vitest';
import { isAffected, versionsForReport } from './report-versions.js';

const published = ['1.4.0', '1.3.0', '1.3.1', '1.3.2', '1.4.1', '1.5.0-pre.1', '1.5.0', '1.5.1'];

describe('versions that a report names', () => {
  it('are the newest of a series and their neighbours, from the oldest', () => {
    expect(versionsForReport({ affected: ['1.4'], fixed: [] }, published)).toEqual([
      '1.4.0',
      '1.4.1',
      '1.5.0',
    ]);
    expect(versionsForReport({ affected: ['1.3.1'], fixed: ['1.5'] }, published)).toEqual([
      ...['1.3.0', '1.3.1', '1.5.0', '1.5.1'],
    ]);
    expect(versionsForReport({ affected: ['1.3.0'], fixed: [] }, published)).toEqual(['1.3.0', '1.3.1']);
  });

  it('are none if nobody published them', () => {
    expect(versionsForReport({ affected: ['2.0', 'nightly'], fixed: [] }, published)).toEqual([]);
  });

  it('are recognised whatever a server adds to its number', () => {
    expect(isAffected({ affected: ['10.11'] }, '10.11.19-MariaDB-0+deb12u1')).toBe(true);
    expect(isAffected({ affected: ['v1.4'] }, '1.4.4')).toBe(true);
    expect(isAffected({ affected: ['1.4'] }, '1.40.0')).toBe(false);
    expect(isAffected({ affected: [] }, '1.4.4')).toBe(false);
  });
});
