const LF = 0x0a;
const CR = 0x0d;
const [D, A, T] = Buffer.from('dat');

/** Cuts at positions where a careless parser fails: before each UTF-8 continuation byte, between CR and LF, inside a blank line, and
 *  inside `data`. The chunks together are the bytes. */
export function awkwardChunks(bytes: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  let start = 0;
  for (let at = 1; at < bytes.length; at++) {
    if (!isAwkward(bytes, at)) continue;
    chunks.push(bytes.subarray(start, at));
    start = at;
  }
  if (start < bytes.length) chunks.push(bytes.subarray(start));
  return chunks;
}

function isAwkward(bytes: Buffer, at: number): boolean {
  const before = bytes[at - 1];
  const here = bytes[at] ?? 0;
  if ((here & 0xc0) === 0x80) return true;
  if (here === LF) return before === CR || before === LF;
  return here === A && before === T && bytes[at - 2] === A && bytes[at - 3] === D;
}
