// Workers of one run share a Postgres server, which ends with this process (packages/testkit/src/postgres-server.ts).
process.env.VITRINE_TEST_RUN = String(process.pid);

const common = {
  rootDir: import.meta.dirname,
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  // Otherwise each project lists node_modules with find(1) and reads the times of its 30,000 files.
  haste: { forceNodeFilesystemAPI: true },
  transform: {
    '\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2024' }, module: { type: 'es6' } }],
  },
};

/** Tests of the gateway that run over both drivers of its storage: those of all admin routes, and of the commands that read traces. A test that
 *  opens the files of SQLite is named `*.sqlite.it.test.ts`. */
const OVER_POSTGRES = ['admin/!(http)/!(*.sqlite)', 'admin/http/admin-api', 'cli/traces/!(*.sqlite)'];

/** Pure tests, tests on servers of this machine, on servers in containers, journeys, the Helm chart, journeys on a Kubernetes cluster (only by
 *  `npm run test:cluster`), and the repository's check of itself. */
export default {
  testTimeout: 240_000,
  // More than the two cores of a small machine, because tests wait for timeouts, servers and processes.
  maxWorkers: 4,
  testSequencer: '<rootDir>/.ci/long-rings-first-sequencer.js',
  reporters: ['default', '<rootDir>/.ci/skipped-tests-reporter.js', '<rootDir>/.ci/durations-reporter.js'],
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: ['<rootDir>/{packages,services,operator,migrations,bench}/**/!(*.it|*.containers|*.growth).test.ts'],
      testPathIgnorePatterns: ['/node_modules/', '/bench/src/foreign-bytes/'],
    },
    {
      ...common,
      displayName: 'growth',
      testMatch: [
        '<rootDir>/bench/src/foreign-bytes/*.test.ts',
        '<rootDir>/{packages,services,operator,migrations}/**/*.growth.test.ts',
      ],
    },
    { ...common, displayName: 'tidy', testMatch: ['<rootDir>/tidy.test.ts'] },
    { ...common, displayName: 'it', testMatch: ['<rootDir>/{packages,services,operator,migrations,bench,docs}/**/*.it.test.ts'] },
    {
      ...common,
      displayName: 'it on postgres',
      testMatch: OVER_POSTGRES.map((files) => `<rootDir>/services/gateway/src/${files}.it.test.ts`),
      globals: { TEST_STORAGE: 'postgres' },
    },
    {
      ...common,
      displayName: 'e2e',
      testMatch: ['<rootDir>/e2e/src/**/!(*.containers|*.cluster).test.ts'],
      testPathIgnorePatterns: ['/e2e/src/chart/'],
    },
    { ...common, displayName: 'chart', testMatch: ['<rootDir>/e2e/src/chart/!(*.cluster).test.ts'] },
    {
      ...common,
      displayName: 'containers',
      testMatch: ['<rootDir>/{packages,services,operator,migrations,bench,deploy,e2e}/**/*.containers.test.ts'],
    },
    { ...common, displayName: 'cluster', testMatch: ['<rootDir>/e2e/src/**/*.cluster.test.ts'] },
  ],
};
