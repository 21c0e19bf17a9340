import { describe, expect, test } from '@jest/globals';
import { stat } from 'node:fs/promises';
import { awkwardChunks } from './write-response.ts';
import { parseScenario, SCENARIO_HEADER } from './scenario.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { waitUntil } from './wait-until.ts';

describe('the small tools', () => {
  test('parseScenario names unknown input', () => {
    expect(parseScenario(undefined)).toEqual(new Map());
    expect(parseScenario(' gzip , cut=3,chunks=2')).toEqual(
      new Map([
        ['gzip', 1],
        ['cut', 3],
        ['chunks', 2],
      ]),
    );
    for (const bad of [
      'toString',
      'cut',
      'cut=',
      'cut=-1',
      'cut=1e3',
      'gzip=1',
      'status=200',
      'chunks=1000000,chunk-bytes=8388608',
    ]) {
      expect(parseScenario(bad)).toEqual(expect.stringContaining(SCENARIO_HEADER));
    }
  });

  test('awkwardChunks cut inside characters, line ends and data', () => {
    const bytes = Buffer.from('data: ü\r\n\n');
    const chunks = awkwardChunks(bytes);
    expect(chunks.map((chunk) => chunk.toString('latin1'))).toEqual(['dat', 'a: \u00c3', '\u00bc\r', '\n', '\n']);
  });

  test('waitUntil returns the value or names what it waited for', async () => {
    let calls = 0;
    expect(await waitUntil(async () => ++calls === 3 && 'third', { what: 'calls' })).toBe('third');
    await expect(waitUntil(() => undefined, { what: 'Godot', timeoutMs: 20 })).rejects.toThrow('waited 20 ms for Godot');
  });

  test('temporaryFolder is removed after use', async () => {
    let path = '';
    {
      await using folder = await temporaryFolder('testkit');
      path = folder.path;
      expect((await stat(path)).isDirectory()).toBe(true);
    }
    await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
