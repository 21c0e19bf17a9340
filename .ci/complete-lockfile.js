// A registry that carries only this platform's binaries makes `npm install` write a lockfile without the other
// platforms' optional packages, and `npm ci` then refuses it everywhere. This adds the missing entries (version and
// platform, no checksum). Run after every change of a dependency: npm install && node .ci/complete-lockfile.js
import { readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));
const systems = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32', 'sunos', 'aix', 'openbsd', 'netbsd'];
const processors = ['arm64', 'arm', 'x64', 'ia32', 'ppc64', 'riscv64', 's390x', 'loong64', 'wasm32'];

let added = 0;
for (const entry of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`;
    if (lock.packages[key]) continue;
    const parts = name.split(/[/-]/);
    const os = systems.filter((system) => parts.includes(system));
    const cpu = processors.filter((processor) => parts.includes(processor));
    const libc = parts.includes('musl') ? ['musl'] : parts.includes('gnu') ? ['glibc'] : [];
    if (os.length !== 1) continue;
    lock.packages[key] = {
      version,
      ...(cpu.length ? { cpu } : {}),
      dev: true,
      ...(libc.length ? { libc } : {}),
      optional: true,
      os,
    };
    added += 1;
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} optional packages of other platforms added to package-lock.json`);
