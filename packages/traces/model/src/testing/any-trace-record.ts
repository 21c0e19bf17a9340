import { anyCharacter } from '@vitrine/testkit/testing/any-character';
import fc from 'fast-check';
import type { Recorded } from '../field-schemas.ts';
import { RECORDED_FIELDS, type FieldKind, type TraceField } from '../trace-fields.ts';
import type { TraceRecord } from '../trace-record.ts';
import { BACKGROUND_ROLES } from '../trace-values.ts';

/** Often with characters that the codec encodes specially. */
const text = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: fc.constantFrom('a', '"', '\n', '\r', '\t', '\x1c', '\x1e', '\ud800') }),
);
const id = fc.string({ unit: 'grapheme' });
const count = fc.maxSafeNat();
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map((made) => new Uint8Array(made));

const KINDS: { readonly [Kind in FieldKind]: fc.Arbitrary<Recorded<Kind>> } = {
  id: bytes(16),
  time: count,
  text,
  count,
  status: fc.integer({ min: 100, max: 599 }),
  hash: bytes(32),
  usd: fc.double({ min: 0, max: 1e9, noNaN: true }),
  boolean: fc.boolean(),
};

type Arbitraries<Name extends keyof TraceRecord> = { readonly [Field in Name]-?: fc.Arbitrary<TraceRecord[Field]> };

const ofRecordedFields = Object.fromEntries(
  Object.entries<TraceField>(RECORDED_FIELDS).map(([name, { kind, values, optional }]) => {
    const value: fc.Arbitrary<unknown> = values === undefined ? KINDS[kind] : fc.constantFrom(...values);
    return [name, optional === true ? fc.option(value, { nil: undefined }) : value];
  }),
) as Arbitraries<keyof typeof RECORDED_FIELDS>;

const reference = bytes(32).map((hash) => Buffer.from(hash).toString('hex'));

/** Every field of a record. A missing one does not compile. */
const fields: Arbitraries<keyof TraceRecord> = {
  ...ofRecordedFields,
  scope: fc.record({ org_id: id, workspace_id: id, gateway_key_id: id, role: id }),
  lineage: fc.record(
    {
      group_fallback: fc.boolean(),
      trace_group_id: id,
      thread_id: id,
      run_id: id,
      parent_checkpoint_id: id,
      checkpoint_seq: count,
    },
    { requiredKeys: [] },
  ),
  request_headers: text,
  response_headers: text,
  request_body: fc.option(text, { nil: undefined }),
  response_body: fc.option(text, { nil: undefined }),
  metadata: text,
  background: fc.option(fc.record({ role: fc.constantFrom(...BACKGROUND_ROLES), response: reference }), { nil: undefined }),
  response_model: fc.option(text, { nil: undefined }),
  upper_tokens: fc.option(count, { nil: undefined }),
  batch_files: fc.option(fc.array(fc.record({ batch: reference, file: reference }), { maxLength: 3 }), { nil: undefined }),
};

/** Any record that a derivation could make. */
export const anyTraceRecord: fc.Arbitrary<TraceRecord> = fc.record(fields);
