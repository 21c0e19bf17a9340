import { operation, type AdminRoute } from '../http/admin-route.ts';
import { pipelineDiagnosticsShape, type PipelineDiagnostics } from './pipeline-diagnostics.ts';

/** `GET /api/diagnostics/trace-pipeline`. Spec: G2.3. */
export function pipelineRoutes(diagnose: () => Promise<PipelineDiagnostics>): AdminRoute[] {
  return [
    {
      path: '/api/diagnostics/trace-pipeline',
      GET: operation({
        summary: 'Says what the trace pipeline has done and lost.',
        permission: 'analytics:read',
        status: 200,
        response: pipelineDiagnosticsShape,
        errors: [],
        handle: diagnose,
      }),
    },
  ];
}
