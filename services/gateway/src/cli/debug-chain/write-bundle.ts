import { Fault, messageOf } from '@vitrine/faults/fault';
import { scrub } from '@vitrine/privacy/scrub';
import { makeFolder } from '@vitrine/sqlite/make-folder';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonText } from '@vitrine/command-line/print-result';
import type { DebugChain } from './debug-chain.ts';

/** Writes a chain into a folder as `debug-chain.json`, and a `manifest.json` with its selection and checksum, to pass on to others.
 *  Existing files are not overwritten; only their owner may read the new ones.
 *  Faults: `bundle_unwritable`. */
export function writeBundle(folder: string, chain: DebugChain): void {
  const text = scrub(jsonText(chain)).text;
  const { limit, include_diff, include_headers, include_bodies } = chain.options;
  const manifest = {
    schema_version: 'debug-bundle.v1',
    generated_at: chain.generated_at,
    selection_mode: Object.keys(chain.selection)[0] ?? 'last',
    selection: chain.selection,
    limit,
    include_diff,
    include_bodies,
    include_headers,
    chain: {
      org_id: chain.org_id,
      workspace_id: chain.workspace_id,
      source_trace_id: chain.source_trace_id,
      checkpoint_count: chain.chain.checkpoint_count,
      truncated: chain.chain.truncated,
      diff_count: chain.diffs?.length ?? 0,
      target_checkpoint_id: chain.chain.target_checkpoint_id,
    },
    files: [
      {
        name: 'debug-chain.json',
        bytes: Buffer.byteLength(text),
        sha256: createHash('sha256').update(text).digest('hex'),
      },
    ],
  };
  try {
    makeFolder(folder);
    writeFileSync(join(folder, 'debug-chain.json'), text, { flag: 'wx', mode: 0o600 });
    writeFileSync(join(folder, 'manifest.json'), scrub(jsonText(manifest)).text, { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    throw new Fault('bundle_unwritable', { say: `--bundle-out ${folder}: ${messageOf(cause)}`, cause });
  }
}
