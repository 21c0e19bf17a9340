/** Every form of a secret of the vocabulary, around a part that is unique to one cell of the sweep. The part is at the
 *  beginning and at the end, so that a form that is only partly redacted is found by the other. Line ends are written `\n`, as header values
 *  need it. Spec: G13.3, G13.4, G13.10, G13.11. */
export const SECRET_FORMS: Readonly<Record<string, (part: string) => string>> = {
  'sk-': (part) => `sk-${part}${part}`,
  'sk-proj-': (part) => `sk-proj-${part}_${part}`,
  'sk-ant-': (part) => `sk-ant-api03-${part}-${part}`,
  sk_: (part) => `sk_live_${part}`,
  pk_: (part) => `pk_test_${part}`,
  rk_: (part) => `rk_live_${part}`,
  'xoxb-': (part) => `xoxb-1234-${part}`,
  ghp_: (part) => `ghp_${part}${part}`,
  github_pat_: (part) => `github_pat_${part}_${part}`,
  pat_: (part) => `pat_${part}`,
  sgk_: (part) => `sgk_${part}-${part}`,
  ogk_: (part) => `ogk_${part}-${part}`,
  svc_live_: (part) => `svc_live_${part}`,
  // The token of a form in upper case has its part in upper case.
  AKIA: (part) => `AKIA${part.toUpperCase()}ABCDEFG`,
  AIza: (part) => `AIza${part}-bcdefghijklmnop_${part}`,
  AIzaSy: (part) => `AIzaSy${part}-${part}`,
  hf_: (part) => `hf_${part}abcdef${part}`,
  'glpat-': (part) => `glpat-${part}-${part}`,
  npm_: (part) => `npm_${part}ab${part}`,
  'SG.': (part) => `SG.${part}abcdefg.${part}-abcdefghijklm_${part}`,
  'xai-': (part) => `xai-${part}ab${part}`,
  gsk_: (part) => `gsk_${part}ab${part}`,
  'sk-ant-oat': (part) => `sk-ant-oat01-${part}`,
  'a private key': (part) => String.raw`-----BEGIN PRIVATE KEY-----\n${part}ab${part}\n-----END PRIVATE KEY-----`,
  'a private key without its end': (part) => String.raw`-----BEGIN RSA PRIVATE KEY-----\n${part}ab${part}`,
  'the password of a URL': (part) => `db://u:${part}!${part}@h.example.com`,
  'a JWT': (part) => `eyJ${part}.eyJ${part}.${part}`,
  'a bearer token': (part) => `Bearer ${part}.${part}`,
  'a bearer token after a tab': (part) => `Bearer\t${part}`,
  'a bearer token in a header': (part) => `authorization: bearer ${part}==`,
  'password=': (part) => `password=${part}!${part}`,
  'secret=': (part) => `client_secret=${part}`,
  'token=': (part) => `TOKEN=${part}`,
  'password= with a comma': (part) => `password=${part},${part}`,
  "password='...'": (part) => `password='${part}, or ${part}'`,
  'password="..."': (part) => `password="${part} or ${part}"`,
  "password: '...'": (part) => `password: '${part} or; ${part}'`,
  'password: "..."': (part) => `password: "${part} or ${part}"`,
  "secret:'...'": (part) => `secret:'${part} ${part}'`,
  'token = "..."': (part) => `token = "${part}"`,
  'password: ...': (part) => `password: ${part}`,
  'token:...': (part) => `token:${part}`,
  'password=<tab>...': (part) => `password=\t${part}`,
};

/** A bearer token of five characters is a part itself. */
export const SHORT_FORMS: Readonly<Record<string, (part: string) => string>> = {
  'a short bearer token': (part) => `Bearer ${part}`,
};

/** Hands out parts, each for one cell, and finds them again, whole or in part. */
export class SecretCells {
  readonly #cells = new Map<string, string>();

  get count(): number {
    return this.#cells.size;
  }

  /** A part of nine characters; of five when it has to be short. */
  partOf(cell: string, isShort: boolean): string {
    const number = this.#cells.size;
    const part = isShort ? `~${number.toString(36).padStart(3, '0')}~` : `Zk${String(number).padStart(5, '0')}Qx`;
    this.#cells.set(part, cell);
    return part;
  }

  /** The cells with parts in a text, however it is written. */
  foundIn(text: string): string[] {
    const found = new Set<string>();
    for (const reading of readingsOf(text)) {
      for (const [part] of reading.matchAll(/Z[kK]\d{5}Q[xX]|~[0-9a-z]{3}~/g))
        found.add(this.#cells.get(part.replace('ZK', 'Zk').replace('QX', 'Qx')) ?? '');
      for (const { 0: half, index } of reading.matchAll(/Z[kK]\d{3}(?!\d\dQ[xX])|(?<!Z[kK]\d\d)\d{3}Q[xX]/g))
        found.add(`a half of one: ${half} in ${reading.slice(Math.max(0, index - 60), index + 20)}`);
    }
    found.delete('');
    return [...found];
  }
}

/** A text unchanged, with decoded escapes, and with decoded base64. */
function* readingsOf(text: string): Generator<string> {
  yield text;
  let unescaped = text;
  for (let depth = 0; depth < 4; depth += 1) {
    const next = unescaped
      .replace(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
      .replace(/\\+u00([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
    if (next === unescaped) break;
    yield next;
    unescaped = next;
  }
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_-]{12,}/g))
    yield Buffer.from(run.replaceAll('-', '+').replaceAll('_', '/'), 'base64').toString('latin1');
}
