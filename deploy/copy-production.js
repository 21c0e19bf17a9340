// Copies what one service runs on: its sources, those of the packages that it needs, and the production dependencies that `npm ci` installed
// for them, found in package-lock.json. Used by deploy/Dockerfile: node deploy/copy-production.js services/gateway /app
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const [service, target] = process.argv.slice(2);
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages;

/** Of our own folders: what only tests use. Of dependencies: what nothing loads; Node strips no types there. */
const FOR_TESTS = /\/testing(?:\/|$)|\/testdata(?:\/|$)|\.test\.ts$|\/node_modules$/;
const NOT_LOADED = /\.(?:map|[mc]?ts|md)$/;

const found = new Set([service]);
for (const path of found) {
  const { dependencies, optionalDependencies, peerDependencies } = lock[path];
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
    const key = resolve(path, name);
    // What is built for one platform is left out: the image may have another, and so far only tests use such packages.
    if (key === undefined || lock[key].os !== undefined || lock[key].cpu !== undefined) continue;
    found.add(key);
    if (lock[key].link) found.add(lock[key].resolved);
  }
}

for (const path of found) {
  const entry = lock[path];
  const to = join(target, path);
  mkdirSync(dirname(to), { recursive: true });
  if (entry.link) symlinkSync(relative(dirname(path), entry.resolved), to);
  else cpSync(path, to, { recursive: true, filter: (file) => isNeeded(path, file) });
}
cpSync('package.json', join(target, 'package.json'));

/** Dependencies within a dependency have paths of their own. */
function isNeeded(path, file) {
  if (!path.startsWith('node_modules/')) return !FOR_TESTS.test(file);
  return !NOT_LOADED.test(file) && !file.startsWith(`${path}/node_modules`);
}

/** Where Node finds `name` from `path`; undefined for an optional one that is not installed. */
function resolve(path, name) {
  for (let folder = path; ; folder = dirname(folder)) {
    const key = folder === '.' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (lock[key] !== undefined && existsSync(key)) return key;
    if (folder === '.') return undefined;
  }
}
