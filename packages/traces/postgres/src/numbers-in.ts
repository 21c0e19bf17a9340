const COMMA = 0x2c;
const DIGIT_0 = 0x30;

/** Calls `take` for each whole number of a text like `12,3,400`. A month of histograms has 750,000 numbers: 20 ms, and with `split` and `Number` 80. */
export function forEachNumber(text: string | null | undefined, take: (number: number) => void): void {
  if (text === null || text === undefined || text === '') return;
  let number = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code !== COMMA) number = number * 10 + code - DIGIT_0;
    else {
      take(number);
      number = 0;
    }
  }
  take(number);
}
