import type { CustomResource } from './custom-resources/custom-resource.ts';
import { GATEWAY_KEY } from './gateway-key/gateway-key-resource.ts';
import { PLAN_LIMITS } from './plan-limits/plan-limits-resource.ts';

/** The kinds that the operator reconciles. */
export const CUSTOM_RESOURCES: readonly CustomResource[] = [GATEWAY_KEY, PLAN_LIMITS];
