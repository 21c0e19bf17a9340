import type { CustomResource } from './custom-resources/custom-resource.ts';
import { GATEWAY_KEY } from './gateway-key/gateway-key-resource.ts';

/** The kinds that the operator reconciles. */
export const CUSTOM_RESOURCES: readonly CustomResource[] = [GATEWAY_KEY];
