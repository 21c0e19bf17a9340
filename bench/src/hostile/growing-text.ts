import type { Random } from './random.ts';

/** Beginnings of credentials, personal data, JSON, events and markup. Repeated, they take seconds in a reader that is not linear. */
export const GROWING_UNITS: readonly string[] = [
  'token:', 'secret:', 'password:', 'token:\\', 'bearer ', 'eyJ', 'sk-', '@', '+1', '1-', '\\', '\\"', '"', "'", '%', '%25', '\\u0025',
  '{', '[', '{"a":', '"usage":null,', 'data: {', '<', '<!--', '/*', '<a href="', 'a', ' ', ',', '.', '\n', '\r\n', 'a\n', ':\n', 'a\r\r', 'data\n', '=', '&', '-',
]; // prettier-ignore

const USUAL_LENGTH = 4_096;
const GREAT_LENGTH = 65_536;

/** One unit repeated many times, with other text before and after it. */
export function growingText(random: Random): string {
  const unit = random.pick(GROWING_UNITS);
  const length = random.chance(0.02) ? GREAT_LENGTH : random.int(USUAL_LENGTH);
  return `${random.pick(['', 'password: ', '"'])}${unit.repeat(Math.ceil(length / unit.length))}${random.pick(['', 'x', '\0'])}`;
}
