import { describe, expect, test } from '@jest/globals';
import { parseSync } from '@swc/core';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, posix } from 'node:path';

// The repository checks itself: house rules that lint cannot express. Every rule is one test, and a failure lists each
// offender with its reason. Imports are found by regular expressions, which is enough for formatted sources; functions by a parser.

const ROOT = import.meta.dirname;

const ROOT_ENTRIES = words(`
  README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md LICENSE docs
  packages services operator migrations charts deploy skaffold.yaml e2e bench
  package.json package-lock.json tsconfig.json jest.config.js tidy.test.ts .ci .gitignore .npmrc .oxfmtrc.json .oxlintrc.json`);
/** What a checkout may also hold. */
const NOT_OURS = words('.git node_modules data coverage');
const NAMELESS_FOLDERS = words('shared common utils util helpers lib misc');
/** Partial templates of Helm begin with an underscore. */
const KEBAB_CASE = /^(?:\.?[a-z0-9]+(?:[-.][a-z0-9]+)*|_[a-z0-9-]+\.tpl)$/;
const CAPITALS = words(
  'README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md LICENSE SHA256SUMS Dockerfile Dockerfile.dockerignore Chart.yaml NOTES.txt',
);
/** Nine of ten functions of more than one line are at most this long. */
const FUNCTION_P90_MAX_LINES = 30;

/** A package may import those before it. */
const STACK =
  words(`faults config lifecycle privacy telemetry worker-threads http-api command-line sqlite postgres kafka outbox credentials
  traces trace-derivation trace-store-sqlite trace-store-postgres ongoingai-import gateway-keys plans registry stores testkit`);

/** Parsing all sources takes 0.4 s alone and was seen to take 4 s on a busy machine. */
const PARSING_TIMEOUT_MS = 30_000;
const FUNCTION_NODES = new Set(
  words(`FunctionDeclaration FunctionExpression ArrowFunctionExpression Constructor ClassMethod PrivateMethod MethodProperty
  GetterProperty SetterProperty`),
);
/** Libraries that no worker thread needs: zod and yaml take 100 ms of CPU and 25 MiB of every thread that loads them. */
const MAIN_THREAD_LIBRARIES = words('zod zod-openapi yaml express pino @opentelemetry/api');

/** Root dependencies that no file imports and no script or configuration names, and who uses them. */
const UNNAMED_TOOLS: Readonly<Record<string, string>> = {
  '@types/express': 'by the type checker, for express',
  '@types/negotiator': 'by the type checker, for negotiator',
  '@types/pg': 'by the type checker, for pg',
  '@types/pg-copy-streams': 'by the type checker, for pg-copy-streams',
  'oxlint-tsgolint': 'by oxlint --type-aware',
  typescript: 'as tsc',
};

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly workspaces?: readonly string[];
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

interface Workspace {
  /** Such as `packages/traces/model`. */
  readonly dir: string;
  readonly manifest: Manifest;
}

interface Import {
  readonly specifier: string;
  readonly typesOnly: boolean;
}

const files = listFiles();
const sources = files.filter((file) => /\.(ts|js)$/.test(file));
const texts = new Map(sources.map((file) => [file, read(file)]));
const rootManifest = manifestOf('package.json');
const workspaces: readonly Workspace[] = files
  .filter((file) => posix.basename(file) === 'package.json')
  .filter((file) => rootManifest.workspaces?.some((glob) => posix.matchesGlob(posix.dirname(file), glob)))
  .map((file) => ({ dir: posix.dirname(file), manifest: manifestOf(file) }));
const workspaceFiles = sources.filter((file) => workspaceOf(file) !== undefined);

test('the checkout is readable', () => {
  expect(files).toContain('tidy.test.ts');
  expect(workspaces.length).toBeGreaterThan(0);
});

test('modules are ES modules, also under jest', () => {
  expect(typeof require).toBe('undefined');
});

describe('names', () => {
  test('the root contains only the listed entries', () => {
    const entries = new Set(files.map((file) => file.split('/')[0] ?? ''));
    expectNone([...entries].filter((entry) => !ROOT_ENTRIES.includes(entry)).map((entry) => `${entry}: not a root entry`));
  });

  test('no folder has a meaningless name', () => {
    const offenders = files.filter((file) => file.split('/').some((name) => NAMELESS_FOLDERS.includes(name)));
    expectNone(offenders.map((file) => `${file}: in a folder whose name says nothing`));
  });

  test('files and folders are kebab-case', () => {
    const named = files.filter((file) => !file.includes('/testdata/'));
    expectNone(
      named
        .filter((file) => file.split('/').some((name) => !KEBAB_CASE.test(name) && !CAPITALS.includes(name)))
        .map((file) => `${file}: not kebab-case`),
    );
  });

  test('no index files: a file is named after its main export', () => {
    expectNone(files.filter((file) => posix.basename(file).startsWith('index.')).map((file) => `${file}: an index file`));
  });
});

describe('sources', () => {
  test('no barrels', () => {
    expectNone(matches(sources, /^\s*export\s*\*.*/gm, 're-exports everything'));
  });

  test(
    `nine of ten functions have at most ${FUNCTION_P90_MAX_LINES} lines`,
    () => {
      const ruled = sources.filter((file) => /^(packages|services|operator)\/.*\.ts$/.test(file) && !isTestCode(file));
      const sorted = ruled
        .flatMap(functionLengths)
        .filter((lines) => lines > 1)
        .toSorted((a, b) => a - b);
      expect(sorted.length).toBeGreaterThan(100);
      expect(sorted[Math.ceil(sorted.length * 0.9) - 1]).toBeLessThanOrEqual(FUNCTION_P90_MAX_LINES);
    },
    PARSING_TIMEOUT_MS,
  );

  test('all tests run, and without module mocks', () => {
    const tests = sources.filter(isTest);
    expectNone([
      ...matches(sources, /\bjest\.\w*mock\w*\s*\(/gi, 'modules are not mocked: take what you need as an argument'),
      ...matches(tests, /\b(?:describe|test|it)(?:\.\w+)*\.(?:skip|only|todo)\b/g, 'every test runs'),
    ]);
  });

  test('only main.ts of a service changes flags of the process', () => {
    const flags = /\bsetFlagsFromString\b|\bfreeWorkerSemiSpaces\(\)(?!:)/g;
    const own = 'packages/platform/lifecycle/src/heap-flags.ts';
    const ruled = workspaceFiles.filter((file) => file !== own && !isMain(file) && !isTest(file));
    expectNone(matches(ruled, flags, 'take the function as an argument'));
  });
});

describe('reachability', () => {
  const scripts = words(Object.values(rootManifest.scripts ?? {}).join(' ')).map((word) => posix.normalize(word));
  const started = workspaceFiles.filter((file) => isMain(file) || scripts.includes(file));

  test('every source is in a workspace with a package.json', () => {
    const offenders = sources.filter((file) => file.includes('/src/') && workspaceOf(file) === undefined);
    expectNone(offenders.map((file) => `${file}: in no workspace`));
  });

  test('every source is reached from a main.ts, a script or a test', () => {
    const reached = reachedFrom([...started, ...workspaceFiles.filter(isTest)]);
    expectNone(workspaceFiles.filter((file) => !reached.has(file)).map((file) => `${file}: nothing imports it`));
  });

  test('sources that only tests reach are in testkit, e2e or a folder named testing', () => {
    const reached = reachedFrom(started);
    const ruled = workspaceFiles.filter((file) => !isTestCode(file) && !file.startsWith('packages/testkit/'));
    expectNone(ruled.filter((file) => !reached.has(file)).map((file) => `${file}: only tests import it`));
  });

  test('every export of a source is used in another file', () => {
    const files = new Map<string, number>();
    for (const text of texts.values())
      for (const name of new Set(text.match(/[A-Za-z_$][\w$]*/g))) files.set(name, (files.get(name) ?? 0) + 1);
    const ruled = workspaceFiles.filter((file) => /^(?:packages|services|operator|migrations)\//.test(file) && !isTestCode(file));
    const exported = /^export (?:async |abstract )?(?:function\*?|const|class|interface|type) ([A-Za-z_$][\w$]*)/gm;
    expectNone(
      ruled.flatMap((file) =>
        [...(texts.get(file) ?? '').matchAll(exported)]
          .filter(([, name = '']) => files.get(name) === 1)
          .map(([, name]) => `${file}: exports ${name}, which only it uses`),
      ),
    );
  });
});

describe('dependencies', () => {
  test('every import of a workspace is declared in its package.json', () => {
    const offenders = workspaceFiles.flatMap((file) => {
      const { dir, manifest } = workspaceOf(file) as Workspace;
      return importsOf(file).flatMap(({ specifier, typesOnly }) => {
        const name = packageOf(specifier);
        if (name === undefined || manifest.dependencies?.[name] !== undefined) return [];
        if (!typesOnly && !isTestCode(file)) return [`${file}: imports ${name}, not in dependencies of ${dir}/package.json`];
        const isDeclared =
          manifest.devDependencies?.[name] !== undefined ||
          (isTestCode(file) && rootManifest.devDependencies?.[name] !== undefined);
        return isDeclared ? [] : [`${file}: imports ${name}, not in devDependencies of ${dir}/package.json`];
      });
    });
    expectNone(offenders);
  });

  test('every declared dependency is imported, and is a devDependency if only tests import it', () => {
    const offenders = workspaces.flatMap(({ dir, manifest: { dependencies = {}, devDependencies = {} } }) => {
      const own = workspaceFiles.filter((file) => file.startsWith(`${dir}/`));
      const used = new Set(own.flatMap(importedPackages));
      const shipped = new Set(own.filter((file) => !isTestCode(file)).flatMap(importedPackages));
      const where = `${dir}/package.json`;
      return [
        ...Object.keys({ ...dependencies, ...devDependencies }).flatMap((name) =>
          used.has(name) ? [] : [`${where}: declares ${name}, which nothing there imports`],
        ),
        ...Object.keys(dependencies).flatMap((name) =>
          used.has(name) && !shipped.has(name) ? [`${where}: declares ${name}, which only tests import`] : [],
        ),
        ...Object.keys(dependencies).flatMap((name) => (name in devDependencies ? [`${where}: declares ${name} twice`] : [])),
      ];
    });
    expectNone(offenders);
  });

  test('worker threads load no library that only the main thread needs', () => {
    const entries = workspaceFiles.filter((file) => /-(?:worker|module)\.ts$/.test(file));
    expect(entries.length).toBeGreaterThan(0);
    const offenders = entries.flatMap((entry) =>
      [...loadedBy(entry)].flatMap((file) =>
        loadedPackages(file)
          .filter((name) => MAIN_THREAD_LIBRARIES.includes(name))
          .map((name) => `${entry}: loads ${name} through ${file}`),
      ),
    );
    expectNone(offenders);
  });

  test('every tool that the root declares is used', () => {
    const configuration = ['jest.config.js', 'tsconfig.json', '.oxlintrc.json', '.oxfmtrc.json'].map(read).join('\n');
    const commands = Object.values(rootManifest.scripts ?? {}).join('\n');
    const imported = new Set(sources.flatMap((file) => importedPackages(file)));
    const named = `${commands}\n${configuration}`.split(/[\s'"[\],&]+/);
    const isNamed = (name: string) => named.includes(name.replace(/^@types\//, ''));
    const names = Object.keys(rootManifest.devDependencies ?? {}).filter((name) => !imported.has(name) && !isNamed(name));
    expectNone(names.filter((name) => !(name in UNNAMED_TOOLS)).map((name) => `package.json: ${name} is used by nothing`));
    expectNone(
      Object.keys(UNNAMED_TOOLS)
        .filter((name) => rootManifest.devDependencies?.[name] === undefined)
        .map((name) => `tidy.test.ts: excuses ${name}, which is gone`),
    );
  });

  test('versions are exact, and the same everywhere', () => {
    const all = [{ dir: '.', manifest: rootManifest }, ...workspaces];
    const pins = all.flatMap(({ dir, manifest }) =>
      Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }).map(([name, pin]) => ({ dir, name, pin })),
    );
    const firstPins = new Map([
      ...pins.map(({ name, pin }) => [name, pin] as const).toReversed(),
      ...workspaces.map(({ manifest: { name, version } }) => [name, version] as const),
    ]);
    expectNone([
      ...pins.filter(({ pin }) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(pin)).map(({ dir, name, pin }) => `${dir}: ${name} ${pin}`),
      ...pins
        .filter(({ name, pin }) => firstPins.get(name) !== pin)
        .map(({ dir, name, pin }) => `${dir}: ${name} ${pin}, elsewhere ${firstPins.get(name)}`),
    ]);
  });
});

describe('walls', () => {
  /** Every import of one workspace by another, as its two folders. */
  const crossings = workspaceFiles.flatMap((file) =>
    importsOf(file).flatMap(({ specifier }) => {
      const to = workspaces.find(({ manifest }) => manifest.name === packageOf(specifier))?.dir;
      const from = workspaceOf(file)?.dir ?? '';
      return to === undefined || to === from ? [] : [{ file, from, to }];
    }),
  );

  test('packages form one stack: each imports only those below it', () => {
    const ruled = crossings.filter(
      ({ file, to }) => to.startsWith('packages/') && file.startsWith('packages/') && !isTestCode(file),
    );
    expectNone([
      ...workspaces
        .filter(({ dir }) => dir.startsWith('packages/') && levelOf(dir) === -1)
        .map(({ dir }) => `${dir}: has no place in the stack`),
      ...ruled
        .filter(({ from, to }) => levelOf(to) >= levelOf(from))
        .map(({ file, to }) => `${file}: imports ${to}, not below it`),
    ]);
  });

  test('only e2e/src/environment.ts starts containers', () => {
    const ruled = workspaceFiles.filter((file) => file !== 'e2e/src/environment.ts');
    expectNone(matches(ruled, /'(?:testcontainers|@testcontainers\/\w+)'/g, 'take it from e2e/src/environment.ts'));
  });

  test('workspaces import only packages; standalone and the bench may import services, tests and the bench the containers of e2e', () => {
    const mayImportServices = ['services/standalone', 'bench'];
    const ruled = crossings
      .filter(({ from, to }) => !mayImportServices.includes(from) || !to.startsWith('services/'))
      .filter(({ from, file, to }) => (!isTest(file) && from !== 'bench') || to !== 'e2e');
    expectNone(ruled.filter(({ to }) => !to.startsWith('packages/')).map(({ file, to }) => `${file}: imports ${to}`));
  });

  test('a relative import stays inside its workspace and names its file in full', () => {
    const offenders = workspaceFiles.flatMap((file) =>
      importsOf(file)
        .filter(({ specifier }) => specifier.startsWith('.'))
        .filter(({ specifier }) => {
          const target = posix.join(posix.dirname(file), specifier);
          return !files.includes(target) || !target.startsWith(`${workspaceOf(file)?.dir}/`);
        })
        .map(({ specifier }) => `${file}: imports ${specifier}`),
    );
    expectNone(offenders);
  });

  test('nothing imports a main.ts', () => {
    expectNone(
      matches(workspaceFiles, /(?:from|import)\s*\(?'(?:\.{1,2}\/|@vitrine\/)[^']*\bmain(?:\.ts)?'/g, 'starts a process'),
    );
  });
});

describe('folders', () => {
  /** By workspace: its folders, and its files beside them, each with those of them that it imports; types included. */
  const graphs = new Map(workspaces.map(({ dir }) => [dir, folderGraph(dir)]));

  test('folders of a workspace form no circle', () => {
    const circles = [...graphs].flatMap(([dir, graph]) =>
      [...graph.keys()]
        .filter((room) => reachable(graph, room).has(room))
        .map((room) => `${dir}/src/${room}: imports itself by others`),
    );
    expectNone(circles);
  });
});

/** The headings of a page, as links name them. */
const anchorsOf = (page: string) =>
  [
    ...read(page)
      .replaceAll(/^```.*?^```/gms, '')
      .matchAll(/^#+ (.+)$/gm),
  ].map(([, text = '']) =>
    text
      .toLowerCase()
      .replaceAll(/[^a-z0-9_ -]/g, '')
      .replaceAll(' ', '-'),
  );

test('a link of a page leads to an existing file and heading', () => {
  const links = files
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) =>
      [
        ...read(file)
          .replaceAll(/^```.*?^```/gms, '')
          .matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g),
      ].map(([, path = '', anchor]) => ({ file, to: path === '' ? file : posix.join(posix.dirname(file), path), anchor })),
    );
  expect(links.length).toBeGreaterThan(50);
  const isDead = ({ to, anchor }: (typeof links)[number]) =>
    !existsSync(join(ROOT, to)) || (anchor !== undefined && to.endsWith('.md') && !anchorsOf(to).includes(anchor));
  expectNone(links.filter(isDead).map(({ file, to, anchor = '' }) => `${file}: ${to} ${anchor}`));
});

test('a page that explains the code names only existing files', () => {
  const pages = files.filter((file) => /^(?:ARCHITECTURE|CONTRIBUTING|docs\/design\/.*)\.md$/.test(file));
  const paths = files.map((file) => `/${file.replace('/src/', '/')}`);
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(/`([\w./-]+\.(?:ts|js|sql))`/g)].map(([, name = '']) => ({ page, name })),
  );
  expect(named.length).toBeGreaterThan(50);
  const isThere = (name: string) => paths.some((path) => path.endsWith(`/${name.replace('/src/', '/')}`));
  expectNone(named.filter(({ name }) => !isThere(name)).map(({ page, name }) => `${page}: ${name}`));
});

test('a source names only existing pages and headings', () => {
  const named = workspaceFiles.flatMap((file) =>
    [...(texts.get(file) ?? '').matchAll(/\b(docs\/design\/[\w-]+\.md)(?:#([a-z0-9_-]+))?/g)].map(([, page = '', anchor]) => ({
      file,
      page,
      anchor,
    })),
  );
  const isDead = ({ page, anchor }: (typeof named)[number]) =>
    !files.includes(page) || (anchor !== undefined && !anchorsOf(page).includes(anchor));
  expectNone(named.filter(isDead).map(({ file, page, anchor = '' }) => `${file}: ${page} ${anchor}`));
});

describe('docs/reference', () => {
  const pages = ['docs/reference/gateway.md', 'docs/reference/store-intelligence.md'];
  const sections = pages.flatMap((page) => read(page).split(/^## /m).slice(1));
  const numbersOf = (section: string) => [...section.matchAll(/^- \*\*([GS]\d+\.\d+)\*\* /gm)].map(([, number = '']) => number);
  const promises = sections.filter((section) => !/^\w+ Not built yet\n/.test(section)).flatMap(numbersOf);
  /** Such as `Spec: G4.12, G4.20 to G4.22`, with all numbers between two. */
  const CITED = /\b([GS]\d+)\.(\d+)\b(?:[\s*/]+to[\s*/]+\1\.(\d+)\b)?/g;
  const cited = files
    .filter((file) => /\.(?:ts|js|sql|ya?ml|tpl|md)$/.test(file) && ![...pages, 'tidy.test.ts'].includes(file))
    .flatMap((file) =>
      [...(texts.get(file) ?? read(file)).matchAll(CITED)].flatMap(([, section, first, last = first]) =>
        Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => ({ file, number: `${section}.${Number(first) + i}` })),
      ),
    );

  test('a promise is under the heading of its number, once', () => {
    expect(promises.length).toBeGreaterThan(400);
    const all = sections.flatMap((section) => numbersOf(section).map((number) => ({ number, heading: section.split(' ')[0] })));
    expectNone([
      ...all
        .filter(({ number, heading }) => number.split('.')[0] !== heading)
        .map(({ number, heading }) => `${number}: under ${heading}`),
      ...all
        .filter(({ number }, i) => all.findIndex((one) => one.number === number) < i)
        .map(({ number }) => `${number}: is there twice`),
    ]);
  });

  test('a cited promise exists and is built', () => {
    const missing = cited.filter(({ number }) => !promises.includes(number));
    expectNone(missing.map(({ file, number }) => `${file}: ${number}: not among the built promises of docs/reference`));
  });

  test('a comment that says Spec cites a promise, or a public standard', () => {
    const other = /\bSpec:(?![\s*/]*(?:[GS]\d+\.\d+\b|RFC \d|W3C |OpenTelemetry, )).*/g;
    const ruled = sources.filter((file) => file !== 'tidy.test.ts');
    expectNone(matches(ruled, other, 'cite a number of docs/reference, such as G4.12'));
  });

  test('prints the promises that neither a comment nor a test cites', () => {
    const numbers = new Set(cited.map(({ number }) => number));
    const uncited = promises.filter((number) => !numbers.has(number));
    process.stdout.write(
      `docs/reference: ${uncited.length} of ${promises.length} promises are cited nowhere: ${uncited.join(' ')}\n`,
    );
  });
});

describe('docs/failure-modes.md', () => {
  const CODE = /new Fault\(\s*(?:'([a-z][a-z_]*)')?/g;
  const thrown = workspaceFiles
    .filter((file) => !isTestCode(file))
    .flatMap((file) => [...(texts.get(file) ?? '').matchAll(CODE)].map((match) => ({ file, code: match[1] })));

  test('a fault has a literal code', () => {
    expectNone(thrown.filter(({ code }) => code === undefined).map(({ file }) => `${file}: new Fault( without a literal code`));
  });

  test('references in log lines and responses exist', () => {
    const anchors = anchorsOf('docs/failure-modes.md');
    const named = [...workspaceFiles, 'deploy/observability/alerts.yaml'].flatMap((file) =>
      [...(texts.get(file) ?? read(file)).matchAll(/docs\/failure-modes\.md#([a-z0-9_-]+)/g)].map(([, anchor = '']) => ({
        file,
        anchor,
      })),
    );
    expect(named.length).toBeGreaterThan(0);
    expectNone(named.filter(({ anchor }) => !anchors.includes(anchor)).map(({ file, anchor }) => `${file}: #${anchor}`));
  });

  test('a warning or an error of the pipeline over Kafka to Postgres has a next step', () => {
    const rooms =
      /^(?:packages\/(?:platform\/kafka|platform\/postgres|traces\/postgres)|services\/trace-writer|services\/gateway\/src\/recording\/publisher)\//;
    const lines = workspaceFiles
      .filter((file) => rooms.test(file) && !isTestCode(file))
      .flatMap((file) =>
        [...(texts.get(file) ?? '').matchAll(/\b(?:log|logger)\.(?:warn|error)\((?<line>.*?'[^']*')/gs)].map((match) => ({
          file,
          line: match.groups?.['line'] ?? '',
        })),
      );
    expect(lines.length).toBeGreaterThan(10);
    const says = /\bnext_step\b|\.\.\.(?:kafka|database)ErrorFields\(/;
    expectNone(lines.filter(({ line }) => !says.test(line)).map(({ file, line }) => `${file}: ${line}: has no next_step`));
  });

  test('every code has a heading, and every heading a code', () => {
    const headings = [...read('docs/failure-modes.md').matchAll(/^### `([a-z_]+)`$/gm)].map((match) => match[1]);
    expectNone([
      ...thrown.filter(({ code }) => !headings.includes(code)).map(({ file, code }) => `${code} (${file}): has no heading`),
      ...headings.filter((code) => !thrown.some((one) => one.code === code)).map((code) => `${code}: is thrown nowhere`),
    ]);
  });
});

/** What reads foreign bytes is tried with growing inputs (bench/src/foreign-bytes): the names of such functions say so. */
test('an exported function that parses, decodes, detects, scrubs or redacts has a growth case, or a reason why it needs none', () => {
  const FUNCTION =
    /^export (?:async )?(?:function\*? |const )((?:parse|decode|detect|scrub|redact)[A-Z]\w*|parse|decode|detect|scrub|redact)\b(?=\(| = \(|<)/gm;
  const exported = workspaceFiles
    .filter(
      (file) =>
        /^(?:packages|services|operator|migrations)\//.test(file) && !file.startsWith('packages/testkit/') && !isTestCode(file),
    )
    .flatMap((file) => [...(texts.get(file) ?? '').matchAll(FUNCTION)].map(([, name]) => `${file}#${name}`));
  const cases = workspaceFiles.filter((file) => file.endsWith('.cases.ts'));
  const listed = cases.flatMap((file) =>
    [...(texts.get(file) ?? '').matchAll(/'([\w/.-]+\.ts)#([\w.]+)'/g)].map(([, of = '', name = '']) => ({
      of,
      name: name.replace(/\..*/, ''),
    })),
  );
  expect(exported.length).toBeGreaterThan(10);
  expectNone([
    ...exported
      .filter((one) => !listed.some(({ of, name }) => one === `${of}#${name}`))
      .map((one) => `${one}: has no growth case`),
    ...listed
      .filter(({ of, name }) => !new RegExp(`^export .*\\b${name}\\b`, 'm').test(texts.get(of) ?? ''))
      .map(({ of, name }) => `${of}#${name}: is not exported`),
  ]);
});

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

/** A package's place in the stack; -1 for none. */
function levelOf(dir: string): number {
  const name = workspaces.find((workspace) => workspace.dir === dir)?.manifest.name ?? '';
  return STACK.indexOf(name.replace('@vitrine/', ''));
}

function folderGraph(dir: string): ReadonlyMap<string, ReadonlySet<string>> {
  const graph = new Map<string, Set<string>>();
  const roomOf = (file: string) => posix.relative(`${dir}/src`, file).replace(/\/.*/, '/');
  for (const file of workspaceFiles) {
    if (!file.startsWith(`${dir}/src/`) || isTestCode(file)) continue;
    const room = roomOf(file);
    const imported = graph.get(room) ?? new Set();
    graph.set(room, imported);
    for (const { specifier } of importsOf(file)) {
      const other = specifier.startsWith('.') ? roomOf(posix.join(posix.dirname(file), specifier)) : room;
      if (other !== room) imported.add(other);
    }
  }
  return graph;
}

function reachable(graph: ReadonlyMap<string, ReadonlySet<string>>, from: string): Set<string> {
  const found = new Set<string>();
  const queue = [...(graph.get(from) ?? [])];
  for (let room = queue.pop(); room !== undefined; room = queue.pop()) {
    if (found.has(room)) continue;
    found.add(room);
    queue.push(...(graph.get(room) ?? []));
  }
  return found;
}

function expectNone(offenders: readonly string[]): void {
  expect([...new Set(offenders)].toSorted()).toEqual([]);
}

/** What git tracks or would track; where git is missing or knows nothing of this folder, everything that is there. */
function listFiles(): string[] {
  const options = ['--cached', '--others', '--exclude-standard'];
  const { stdout } = spawnSync('git', ['ls-files', '-z', ...options], { cwd: ROOT, encoding: 'utf8', maxBuffer: 16 * 1_048_576 });
  const isOurs = (file: string) => file !== '' && !NOT_OURS.includes(file) && existsSync(join(ROOT, file));
  const listed = (stdout ?? '').split('\0').filter(isOurs);
  return listed.includes('tidy.test.ts') ? listed : walk('');
}

function walk(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter(({ name }) => !NOT_OURS.includes(name) && !name.endsWith('.log'))
    .flatMap((entry) => {
      const path = posix.join(folder, entry.name);
      return entry.isDirectory() ? walk(path) : [path];
    });
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

function manifestOf(file: string): Manifest {
  return JSON.parse(read(file)) as Manifest;
}

/** Lines of every function of a source, from its name or its parameters to its last brace; arrow functions and methods too. */
function functionLengths(file: string): number[] {
  // Positions are bytes, counted over everything parsed so far; the first of this source is that of the semicolon.
  const bytes = Buffer.from(`;${texts.get(file)}`);
  const program = parseSync(bytes.toString(), { syntax: 'typescript' });
  const found: number[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, span } = node as { readonly type?: string; readonly span?: { readonly start: number; readonly end: number } };
    if (span !== undefined && type !== undefined && FUNCTION_NODES.has(type)) {
      const [start, end] = [span.start - program.span.start, span.end - program.span.start];
      found.push(bytes.toString('utf8', start, end).split('\n').length);
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(program.body);
  return found;
}

function isTest(file: string): boolean {
  return file.endsWith('.test.ts');
}

/** Tests and their helper files. */
function isTestCode(file: string): boolean {
  return isTest(file) || file.includes('/testing/') || file.startsWith('e2e/');
}

function isMain(file: string): boolean {
  return file === `${workspaceOf(file)?.dir}/src/main.ts`;
}

function workspaceOf(file: string): Workspace | undefined {
  return workspaces.find(({ dir }) => file.startsWith(`${dir}/`));
}

function matches(among: readonly string[], pattern: RegExp, reason: string): string[] {
  return among.flatMap((file) =>
    [...(texts.get(file) ?? '').matchAll(pattern)].map((match) => `${file}: ${match[0].trim()}: ${reason}`),
  );
}

function importsOf(file: string): Import[] {
  const text = texts.get(file) ?? '';
  const statements = text.matchAll(/^\s*(?:import|export)\s+(type\s)?(?:[\w*{}\s,$]+?\sfrom\s+)?'([^']+)'/gm);
  const calls = text.matchAll(/\bimport\(\s*'([^']+)'/g);
  return [
    ...[...statements].map(([, type, specifier = '']) => ({ specifier, typesOnly: type !== undefined })),
    ...[...calls].map(([, specifier = '']) => ({ specifier, typesOnly: false })),
  ];
}

/** The package that an import names; undefined for files and Node's own modules. */
function packageOf(specifier: string): string | undefined {
  if (/^(?:\.|node:)/.test(specifier) || builtinModules.includes(specifier)) return undefined;
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

function importedPackages(file: string): string[] {
  return importsOf(file).flatMap(({ specifier }) => packageOf(specifier) ?? []);
}

/** All files that can be reached. Beside imports, a quoted relative path of a source counts: that is how threads and child
 *  processes are started (`new URL('./x.ts', import.meta.url)`). */
function reachedFrom(entries: readonly string[]): Set<string> {
  const reached = new Set(entries);
  for (const file of reached) {
    const paths = [...(texts.get(file) ?? '').matchAll(/'(\.{1,2}\/[^'\n]+\.(?:ts|js))'/g)].map(([, path = '']) =>
      posix.join(posix.dirname(file), path),
    );
    const imported = importsOf(file).map(({ specifier }) => targetOf(file, specifier));
    for (const target of [...paths, ...imported]) if (texts.has(target)) reached.add(target);
  }
  return reached;
}

/** All files loaded with `entry`, without dynamic imports. */
function loadedBy(entry: string): Set<string> {
  const loaded = new Set([entry]);
  for (const file of loaded)
    for (const { specifier, typesOnly } of importsOf(file)) {
      const target = targetOf(file, specifier);
      if (!typesOnly && texts.has(target)) loaded.add(target);
    }
  return loaded;
}

function loadedPackages(file: string): string[] {
  return importsOf(file).flatMap(({ specifier, typesOnly }) => (typesOnly ? [] : (packageOf(specifier) ?? [])));
}

/** The source that an import names; '' for those of other projects. */
function targetOf(file: string, specifier: string): string {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(file), specifier);
  const workspace = workspaces.find(({ manifest }) => manifest.name === packageOf(specifier));
  return workspace === undefined ? '' : `${workspace.dir}/src${specifier.slice(workspace.manifest.name.length)}.ts`;
}
