import { otelConfig } from '@vitrine/telemetry/otel/otel-config';
import { z } from 'zod';

/** What others are told of the gateway. Spec: gateway, Telemetry export configuration. */
export const observabilityConfig = z.strictObject({ otel: otelConfig.prefault({}) }).prefault({});
