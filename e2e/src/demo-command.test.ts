import { expect, test } from '@jest/globals';
import { runCaptured } from '@vitrine/command-line/testing/run-captured';
import { demoCommandLine } from './demo-command.ts';

test('without a container engine the error has the reason and the next step', async () => {
  const fault: unknown = await runCaptured(
    demoCommandLine(async () => 'no socket'),
    [],
  ).catch((error: unknown) => error);
  expect(fault).toMatchObject({
    code: 'no_container_engine',
    say: expect.stringMatching(/no socket\nStart one.*npm start -- --demo/s),
  });
});

test.each([
  [['--help'], 0, /npm run demo:pipeline -- --rate 20/],
  [['--rate', '0'], 2, /--rate must be a whole number from 1 to 50/],
])('%j exits with %d and shows the usage', async (args, exitCode, text) => {
  const { code, stdout, stderr } = await runCaptured(demoCommandLine(), args);
  expect([code, stdout + stderr]).toEqual([exitCode, expect.stringMatching(text)]);
});
