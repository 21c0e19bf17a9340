/**
 * Sets of values that between them switch everything in the chart; each is rendered by both Helms, and sent to the API server if a
 * cluster is available.
 */
export const OWN_SERVERS = {
  database: { existingSecret: 'postgres' },
  kafka: { bootstrapServers: 'kafka-1:9092,kafka-2:9094' },
  enrichScanQueue: { enabled: true },
};

export const CHART_CASES: Readonly<Record<string, object>> = {
  'servers of one’s own': OWN_SERVERS,
  'servers of the chart': { dev: { enabled: true } },
  production: { ...OWN_SERVERS, production: true, priorityClassName: 'system-cluster-critical' },
  'one pod of each': {
    ...OWN_SERVERS,
    gateway: { replicas: 1, spool: { existingClaim: 'spool' } },
    traceWriter: { replicas: 1 },
    storeApi: { replicas: 1 },
  },
  'a database user for each service': {
    kafka: OWN_SERVERS.kafka,
    gateway: { database: { existingSecret: 'gateway-user', key: 'uri' } },
    traceWriter: { database: { existingSecret: 'writer-user' } },
    storeApi: { database: { existingSecret: 'store-api-user' } },
    enrichScanQueue: { enabled: true, database: { existingSecret: 'scanner-user' } },
    operator: { database: { existingSecret: 'operator-user' } },
    migrations: { database: { existingSecret: 'owner' } },
  },
  'TLS and SCRAM': {
    database: { existingSecret: 'postgres', caSecret: 'postgres-ca' },
    kafka: {
      ...OWN_SERVERS.kafka,
      tls: { enabled: true, caSecret: 'kafka-ca', clientSecret: 'kafka-client' },
      sasl: { mechanism: 'scram-sha-512', username: 'vitrine', existingSecret: 'kafka-user' },
    },
    traceWriter: { keda: { enabled: true } },
    enrichScanQueue: { enabled: true, keda: { enabled: true } },
  },
  autoscaled: {
    ...OWN_SERVERS,
    gateway: { autoscaling: { enabled: true } },
    traceWriter: { keda: { enabled: true, minReplicas: 2 } },
    storeApi: { autoscaling: { enabled: true } },
    enrichScanQueue: { enabled: true, keda: { enabled: true } },
  },
  'namespaces that are listed': { ...OWN_SERVERS, operator: { watchNamespaces: ['team-a', 'team-b'] } },
  'one tenant': {
    ...OWN_SERVERS,
    operator: { tenancy: { defaultOrg: 'acme', defaultWorkspace: 'search' } },
    pepper: { existingSecret: 'own-pepper', key: 'pepper.txt' },
    storeApi: { serviceToken: { existingSecret: 'own-token', key: 'token.txt' } },
    publicUrls: { api: 'https://api.example.com', console: 'https://console.example.com' },
  },
  'as little as possible': {
    ...OWN_SERVERS,
    storeApi: { enabled: false },
    enrichScanQueue: { enabled: false },
    operator: { enabled: false },
    migrations: { enabled: false },
    topics: { enabled: false },
    metrics: { enabled: false },
    networkPolicy: { enabled: false },
    planLimitsPolicy: { enabled: false },
    userRoles: { enabled: false },
    crds: { enabled: false },
  },
  'own images, labels and places': {
    ...OWN_SERVERS,
    fullnameOverride: 'proxy',
    image: { registry: 'registry.example.com', tag: '1.2.3', pullSecrets: ['registry'] },
    gateway: {
      image: { digest: `sha256:${'a'.repeat(64)}` },
      config: {
        tracing: { capture_bodies: true },
        plans: { silver: {}, gold: {} },
        providers: { openai: { upstream: 'http://mock:8090/v1' } },
        observability: { otel: { enabled: true, endpoint: 'http://collector:4319' } },
      },
      extraEnv: [{ name: 'SVC_LOG_LEVEL', value: 'debug' }],
      extraEgress: [{ ports: [{ port: 1234 }] }],
      from: [{ namespaceSelector: {} }],
      service: { type: 'LoadBalancer', port: 80, annotations: { internal: 'true' } },
      podLabels: { team: 'a' },
      podAnnotations: { note: 'b' },
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      tolerations: [{ key: 'gateways', operator: 'Exists' }],
      affinity: { nodeAffinity: {} },
    },
    storeApi: {
      from: [{ podSelector: {} }],
      service: { type: 'NodePort', port: 80, annotations: { internal: 'true' } },
      extraEnv: [{ name: 'STORE_API_LOG_LEVEL', value: 'debug' }],
    },
    enrichScanQueue: { enabled: true, webPorts: [443], extraEgress: [{ ports: [{ port: 8443 }] }] },
    metrics: { from: [{ podSelector: {} }], serviceMonitor: { enabled: true, labels: { release: 'prometheus' } } },
  },
};
