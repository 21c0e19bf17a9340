/** Length of a text of latencies at which equal buckets are merged. Merging takes 50 µs, and appending almost nothing. */
export const LATENCIES_ADDED_UP_AT = 4_096;

const COLON = 0x3a;
const DIGIT_0 = 0x30;

/** Pairs of bucket and count, as in '51:3,120:1,'; texts can be joined. */
export function latenciesText(pairs: Iterable<readonly [bucket: number, count: number]>): string {
  let text = '';
  for (const [bucket, count] of pairs) text += `${bucket}:${count},`;
  return text;
}

/** Parsed digit by digit without substrings, because a month by key has millions of pairs. */
export function readLatencies(text: string, take: (bucket: number, count: number) => void): void {
  let [bucket, number] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit >= DIGIT_0 && unit < COLON) {
      number = number * 10 + unit - DIGIT_0;
    } else {
      if (unit === COLON) bucket = number;
      else take(bucket, number);
      number = 0;
    }
  }
}
