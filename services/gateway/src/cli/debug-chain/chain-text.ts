import { textTable } from '@vitrine/command-line/print-result';
import { isKnownTenant } from '../offline-traces/tenant-filter.ts';
import { DIFF_FIELDS, DIFF_PARTS, type ChainCheckpoint, type CheckpointDiff, type DebugChain } from './debug-chain.ts';
import { lineageNames, tenantLines } from './read-source.ts';

const HEADS = ['STEP', 'TRACE', 'CREATED', 'MODEL', 'STATUS', 'OUTCOME', 'TOKENS', 'COST USD', 'LATENCY', 'SEQ', 'PARENT'];

/** The text output of `gateway debug`. */
export function chainText(shown: DebugChain): string {
  const { source_trace_id: sourceId, chain, diffs = [] } = shown;
  const ids = lineageNames({ ...chain, trace_group_id: chain.group_id });
  const many = chain.checkpoint_count === 1 ? '1 checkpoint' : `${chain.checkpoint_count} checkpoints`;
  const cut = chain.truncated ? ', and there are more than --limit shows' : '';
  return [
    `Trace ${sourceId}${ids.length === 0 ? ' has no lineage ids' : ` of ${ids.join(', ')}`}: ${many}${cut}.\n`,
    tenantText(shown),
    '\n',
    textTable(
      HEADS,
      chain.checkpoints.map((checkpoint) => rowOf(checkpoint, sourceId)),
    ),
    ...(diffs.length === 0 ? [] : ['\nChanges\n', ...diffs.map((diff, i) => `  ${i + 1} to ${i + 2}: ${diffText(diff)}\n`)]),
    ...chain.checkpoints.flatMap(contentText),
  ].join('');
}

/** The tenant whose data is shown, and the tenants whose data is not. */
function tenantText(shown: DebugChain): string {
  const { org_id, workspace_id, other_tenants: others, other_tenant_count: count } = shown;
  const own = isKnownTenant(shown)
    ? `Organisation ${org_id}, workspace ${workspace_id}.\n`
    : 'No tenant: the caller was unknown.\n';
  if (count === 0) return own;
  return [`${own}Traces of other tenants with the same ids are not shown:`, ...tenantLines(others, count), ''].join('\n');
}

function rowOf(checkpoint: ChainCheckpoint, sourceId: string): string[] {
  const { id, step, lineage } = checkpoint;
  return [
    `${step}${id === sourceId ? '*' : ''}`,
    id,
    checkpoint.created_at,
    checkpoint.model,
    String(checkpoint.response_status),
    checkpoint.outcome,
    checkpoint.usage_status === 'missing' ? '-' : String(checkpoint.total_tokens),
    checkpoint.cost_status === 'unpriced' ? '-' : checkpoint.estimated_cost_usd.toFixed(6),
    `${checkpoint.latency_ms} ms`,
    lineage.checkpoint_seq === undefined ? '-' : String(lineage.checkpoint_seq),
    lineage.parent_checkpoint_id ?? '-',
  ];
}

function diffText(diff: CheckpointDiff): string {
  const changed = DIFF_FIELDS.filter((field) => diff[`${field}_changed`]);
  const sizes = DIFF_PARTS.flatMap((part) =>
    diff[`${part}_changed`] ? [`${part} ${diff[`${part}_bytes_from`]} -> ${diff[`${part}_bytes_to`]} bytes`] : [],
  );
  const keys = (['added', 'removed', 'changed'] as const).flatMap((how) => {
    const names = diff[`metadata_keys_${how}`];
    return names === undefined ? [] : [`metadata ${how}: ${names.join(' ')}`];
  });
  return [
    ...(changed.length === 0 ? [] : [`other ${changed.join(', ')}`]),
    `tokens ${signed(diff.total_tokens_delta)} (input ${signed(diff.input_tokens_delta)}, output ${signed(diff.output_tokens_delta)})`,
    `latency ${signed(diff.latency_delta_ms)} ms`,
    `cost ${signed(Number(diff.estimated_cost_delta_usd.toFixed(6)))} USD`,
    ...sizes,
    ...keys,
  ].join('; ');
}

function contentText(checkpoint: ChainCheckpoint): string[] {
  return (['request_headers', 'request_body', 'response_headers', 'response_body'] as const).flatMap((part) => {
    const text = checkpoint[part];
    return text === undefined ? [] : [`\n--- step ${checkpoint.step}, ${part}\n${printable(text)}\n`];
  });
}

function signed(number: number): string {
  return number > 0 ? `+${number}` : String(number);
}

/** Control characters, which could move a terminal's cursor, are shown as `?`. */
function printable(text: string): string {
  return text.replace(/[^\P{C}\n\t]/gu, '?');
}
