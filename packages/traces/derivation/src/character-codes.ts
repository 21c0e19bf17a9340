/** Characters for parsing JSON and server-sent events. Byte loops destructure them into constants of their module (`const { QUOTE } = ASCII`),
 *  because V8 folds those but reads imported ones each time, which took up to 14 % longer. */
export const ASCII = {
  TAB: 0x09,
  LF: 0x0a,
  CR: 0x0d,
  SPACE: 0x20,
  QUOTE: 0x22,
  COMMA: 0x2c,
  COLON: 0x3a,
  OPEN_BRACKET: 0x5b,
  BACKSLASH: 0x5c,
  CLOSE_BRACKET: 0x5d,
  OPEN_BRACE: 0x7b,
  CLOSE_BRACE: 0x7d,
} as const;
