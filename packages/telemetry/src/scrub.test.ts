import { describe, expect, test } from '@jest/globals';
import { CREDENTIAL_REDACTED as R, scrub } from './scrub.ts';

describe('scrub', () => {
  test.each([
    ['sk-proj-abcdefghijklmnop', R],
    ['sk-ant-api03-AbCd_ef-gh', R],
    ['key sk_live_12345678 used', `key ${R} used`],
    ['pk_test_12345678', R],
    ['rk_live_12345678', R],
    ['xoxb-1234-5678-abcdef', R],
    ['xoxb_1234_5678', R],
    ['ghp_0123456789abcdef', R],
    ['github_pat_11AAAAA', R],
    ['pat_abcdefgh', R],
    ['sgk_AAAAAAAAAAAAAAAAAAAAAAAA', R],
    ['svc_live_abcdef', R],
    ['Authorization: Bearer abc.def-123', `Authorization: Bearer ${R}`],
    ['jwt eyJhbGciOiJI.eyJzdWIi.SflKxwRJ!', `jwt ${R}!`],
    ['postgres://h/db?password=hunter2&x=1', `postgres://h/db?password=${R}&x=1`],
    ['{"a":"secret=s3cr3t","b":"token=t"}', `{"a":"secret=${R}","b":"token=${R}"}`],
  ])('hides the credential in %j', (text, expected) => {
    expect(scrub(text).text).toBe(expected);
    expect(scrub(text).count).toBeGreaterThan(0);
  });

  test.each(['task_management is fine', 'sk-', 'max_tokens=5 ', 'a phone 0123456789', 'desk-chair-model', '"prompt_tokens":12'])(
    'leaves %j alone',
    (text) => {
      expect(scrub(text)).toEqual({ text, count: 0 });
    },
  );
});
